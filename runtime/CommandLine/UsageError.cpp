#include "runtime/CommandLine/UsageError.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "runtime/Base/Nearest.h"

namespace vime {
namespace {

/// The verb that was named, or the app itself.
const CLI::App &innermost(const CLI::App &app) {
  const CLI::App *inner = &app;
  for (const CLI::App *verb :
       app.get_subcommands([](const CLI::App *verb) { return verb->parsed(); }))
    inner = verb;
  return *inner;
}

std::string commandOf(const CLI::App &app) {
  return (app.get_parent() ? app.get_parent()->get_name() + ' ' : "") + app.get_name();
}

std::string seeHelp(const CLI::App &app) {
  return fmt::format("run `{} --help`", commandOf(innermost(app)));
}

std::string withoutValue(const std::string &option) { return option.substr(0, option.find('=')); }

UsageError unknownOption(const CLI::App &app, const std::string &given) {
  const CLI::App &verb = innermost(app);
  std::vector<std::string> names;
  for (const CLI::Option *option : verb.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto near = nearest(withoutValue(given), views);
  return {fmt::format("`{}` has no option `{}`", commandOf(verb), withoutValue(given)),
          near ? fmt::format("did you mean `{}`?", *near) : seeHelp(app)};
}

/// An argument too many: behind a misspelt verb, mostly.
UsageError extraArgument(const CLI::App &app, const std::string &given) {
  std::vector<std::string> verbs;
  for (const CLI::App *verb : app.get_subcommands({}))
    verbs.push_back(verb->get_name());
  const std::vector<std::string_view> views(verbs.begin(), verbs.end());
  const CLI::App &verb = innermost(app);
  if (&verb == &app)
    for (const CLI::Option *option : app.get_options())
      if (option->get_positional() && option->count() > 0)
        if (const auto near = nearest(option->results().front(), views))
          return {fmt::format("unknown verb `{}`", option->results().front()),
                  fmt::format("did you mean `{}`?", *near)};
  return {fmt::format("`{}` takes no further argument `{}`", commandOf(verb), given), seeHelp(app)};
}

/// CLI11 names what it speaks of first: `--output: 1 required FILE missing`.
struct Sentence {
  std::string subject, rest;
};

Sentence split(const std::string &text, const std::string &separator) {
  const std::size_t at = text.find(separator);
  return at == text.npos ? Sentence{text, ""}
                         : Sentence{text.substr(0, at), text.substr(at + separator.size())};
}

UsageError badValue(const CLI::App &app, const std::string &text) {
  const auto [option, problem] = split(text, ": ");
  const auto [sentence, help] = split(problem, "\n");
  return {fmt::format("`{}` {}", option, sentence), help.empty() ? seeHelp(app) : help};
}

UsageError wrongNumber(const CLI::App &app, const std::string &text) {
  const auto [option, problem] = split(text, ": ");
  if (problem.find("received") != problem.npos)
    return {fmt::format("`{}` is given more than once", option), "it takes one value: keep one"};
  if (problem.find("missing") != problem.npos)
    return {fmt::format("`{}` needs a value", option), seeHelp(app)};
  const std::string flag = split(text, " ").subject; // without its dashes
  return {fmt::format("`{}{}` takes no value", flag.size() > 1 ? "--" : "-", flag), seeHelp(app)};
}

} // namespace

UsageError usageError(const CLI::App &app, const CLI::ParseError &error) {
  const std::string text = error.what();
  // Before everything else: what is misspelt is missing too.
  for (const std::string &given : app.remaining(true))
    if (given.starts_with('-') && given != "-" && given != "--")
      return unknownOption(app, given);
  if (dynamic_cast<const CLI::ExtrasError *>(&error))
    for (const std::string &given : app.remaining(true))
      return extraArgument(app, given);
  if (dynamic_cast<const CLI::ValidationError *>(&error))
    return badValue(app, text);
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return {fmt::format("`{}` is missing", split(text, " is required").subject), seeHelp(app)};
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
    return wrongNumber(app, text);
  if (dynamic_cast<const CLI::ExcludesError *>(&error)) {
    const auto [one, other] = split(text, " excludes ");
    return {fmt::format("`{}` and `{}` exclude each other", one, other), "leave one of them out"};
  }
  if (dynamic_cast<const CLI::RequiresError *>(&error)) {
    const auto [one, other] = split(text, " requires ");
    return {fmt::format("`{}` says something about `{}`, which is missing", one, other),
            seeHelp(app)};
  }
  return {fmt::format("the command line cannot be read: {}", text), seeHelp(app)};
}

} // namespace vime
