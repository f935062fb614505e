#include "runtime/CommandLine/ManPage.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/CommandLine/Arguments.h"

namespace vime {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ::toupper);
  return text;
}

class PageWriter {
public:
  std::string write(const CLI::App &app, const ManPageFacts &facts) {
    text = fmt::format(".TH {} 1 \"\" \"vime {}\" \"User Commands\"\n",
                       roffText(upper(app.get_name())), facts.version);
    heading("NAME");
    text += fmt::format("{} \\- {}\n", roffText(app.get_name()), roffText(app.get_description()));
    heading("SYNOPSIS");
    synopsis(app, app.get_name());
    for (const CLI::App *verb : app.get_subcommands({})) {
      text += ".br\n";
      synopsis(*verb, app.get_name() + ' ' + verb->get_name());
    }
    heading("OPTIONS");
    options(app);
    if (const auto verbs = app.get_subcommands({}); !verbs.empty()) {
      heading("VERBS");
      for (const CLI::App *verb : verbs)
        section(*verb);
    }
    footer(app.get_footer(), ".SH ");
    if (!facts.seeAlso.empty()) {
      heading("SEE ALSO");
      text += roffText(fmt::format("{}", fmt::join(facts.seeAlso, ", "))) + '\n';
    }
    return text;
  }

private:
  void heading(const std::string &name) { text += ".SH " + name + '\n'; }

  void synopsis(const CLI::App &app, const std::string &command) {
    text += ".B " + roffText(command) + '\n';
    for (const CLI::Option *option : app.get_options())
      if (option->get_positional())
        text += fmt::format("\\fI{}\\fR\n", roffText(valueOf(*option)));
    text += "[options]\n";
  }

  void section(const CLI::App &verb) {
    text += ".SS " + roffText(verb.get_name()) + '\n';
    text += roffText(verb.get_description()) + ".\n";
    options(verb);
    footer(verb.get_footer(), ".PP\n.B ");
  }

  void options(const CLI::App &app) {
    for (const CLI::Option *option : app.get_options()) {
      if (option->get_group().empty())
        continue;
      const std::string value = valueOf(*option);
      if (option->get_positional())
        text += fmt::format(".TP\n\\fI{}\\fR\n", roffText(value));
      else
        text += fmt::format(".TP\n\\fB{}\\fR{}\n", roffText(namesOf(*option)),
                            value.empty() ? "" : fmt::format(" \\fI{}\\fR", roffText(value)));
      text += roffText(option->get_description()) + '\n';
    }
  }

  /// Paragraph by paragraph: `examples:` and lines, `exit codes: 0 ok, …`.
  void footer(const std::string &all, const std::string &command) {
    for (std::string_view rest = all; !rest.empty();) {
      const std::size_t end = std::min(rest.find("\n\n"), rest.size());
      paragraph(rest.substr(0, end), command);
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
  }

  void paragraph(std::string_view lines, const std::string &command) {
    lines.remove_prefix(std::min(lines.find_first_not_of('\n'), lines.size()));
    const std::size_t colon = lines.find(':');
    if (lines.empty() || colon == lines.npos)
      return;
    text += command + upper(std::string(lines.substr(0, colon))) + '\n';
    lines.remove_prefix(colon + 1);
    lines.remove_prefix(std::min(lines.find_first_not_of('\n'), lines.size()));
    text += ".nf\n" + roffText(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
  }

  std::string text;
};

} // namespace

std::string roffText(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    const bool startsLine = escaped.empty() || escaped.back() == '\n';
    if (startsLine && (letter == '.' || letter == '\''))
      escaped += "\\&";
    if (letter == '-' || letter == '\\')
      escaped += letter == '-' ? "\\-" : "\\e";
    else
      escaped += letter;
  }
  return escaped;
}

std::string manPage(const CLI::App &app, const ManPageFacts &facts) {
  return PageWriter().write(app, facts);
}

} // namespace vime
