#include "runtime/CommandLine/Completion.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/CommandLine/Arguments.h"

namespace vime {
namespace {

// What is offered at a place: words, and files or folders.
struct Offer {
  std::vector<std::string> words;
  bool files = false, folders = false;
};

// `FIELD|CODE|JOB.yaml`: each of the kinds.
Offer offerOf(const CLI::Option &option, const CompletionKinds &kinds) {
  Offer offer{wordsOf(option)};
  if (!offer.words.empty())
    return offer;
  for (const std::string &kind : CLI::detail::split(valueOf(option), '|'))
    if (const auto words = kinds.find(kind); words != kinds.end())
      offer.words.insert(offer.words.end(), words->second.begin(), words->second.end());
    else if (kind == "DIR")
      offer.folders = true;
    else if (kind != "N")
      offer.files = true;
  return offer;
}

class BashWriter {
public:
  BashWriter(const CLI::App &app, const CompletionKinds &kinds) : app(app), kinds(kinds) {}

  std::string write() {
    std::vector<std::string> verbs;
    for (const CLI::App *verb : app.get_subcommands({}))
      verbs.push_back(verb->get_name());
    std::string values, options, arguments;
    append(app, "", values, options, arguments, verbs);
    for (const CLI::App *verb : app.get_subcommands({}))
      append(*verb, verb->get_name(), values, options, arguments, {});
    const std::string function = functionName();
    return fmt::format(
        kScript, fmt::arg("tool", app.get_name()), fmt::arg("function", function),
        fmt::arg("verbs", verbs.empty() ? "''" : fmt::format("{}", fmt::join(verbs, "|"))),
        fmt::arg("values", values), fmt::arg("options", options), fmt::arg("arguments", arguments));
  }

private:
  static constexpr const char *kScript = R"(# What `{tool} completion` printed.
{function}_words() {{
  COMPREPLY+=($(compgen -W "$1" -- "$current"))
  if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}}
{function}_paths() {{
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$current")
}}
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= word
  # bash takes `--option=value` for three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {verbs}) verb=$word; break ;; esac
  done
  COMPREPLY=()
  case $verb,$previous in
{values}  esac
  if [[ $current == -* ]]; then
    case $verb in
{options}    esac
    return
  fi
  case $verb in
{arguments}  esac
}}
complete -F {function} {tool}
)";

  std::string functionName() const {
    std::string name = "_" + app.get_name();
    for (char &letter : name)
      if (letter == '-')
        letter = '_';
    return name;
  }

  std::string commandFor(const Offer &offer) const {
    std::string command;
    if (!offer.words.empty())
      command += fmt::format("{}_words '{}'; ", functionName(), fmt::join(offer.words, " "));
    for (const auto &[wanted, flag] :
         {std::pair(offer.files, "-f"), std::pair(offer.folders, "-d")})
      if (wanted)
        command += fmt::format("{}_paths {}; ", functionName(), flag);
    return command.empty() ? ": ; " : command;
  }

  void append(const CLI::App &verb, const std::string &name, std::string &values,
              std::string &options, std::string &arguments, std::vector<std::string> first) {
    std::vector<std::string> names;
    Offer argument{std::move(first)};
    for (const CLI::Option *option : verb.get_options()) {
      if (option->get_positional()) {
        const Offer more = offerOf(*option, kinds);
        argument.words.insert(argument.words.end(), more.words.begin(), more.words.end());
        argument.files = argument.files || more.files;
        argument.folders = argument.folders || more.folders;
        continue;
      }
      const std::vector<std::string> these = CLI::detail::split(namesOf(*option), ',');
      names.insert(names.end(), these.begin(), these.end());
      if (!valueOf(*option).empty())
        values += fmt::format("    {0},{1}) {2}return ;;\n", name,
                              fmt::join(these, fmt::format("|{},", name)),
                              commandFor(offerOf(*option, kinds)));
    }
    options += fmt::format("      '{}') {};;\n", name, commandFor({std::move(names)}));
    arguments += fmt::format("    '{}') {};;\n", name, commandFor(argument));
  }

  const CLI::App &app;
  const CompletionKinds &kinds;
};

} // namespace

std::vector<std::string> completionShells() { return {"bash", "zsh"}; }

std::string completionScript(const CLI::App &app, std::string_view shell,
                             const CompletionKinds &kinds) {
  const std::string bash = BashWriter(app, kinds).write();
  return shell == "zsh"
             ? fmt::format("#compdef {}\nautoload -U +X bashcompinit && bashcompinit\n{}",
                           app.get_name(), bash)
             : bash;
}

} // namespace vime
