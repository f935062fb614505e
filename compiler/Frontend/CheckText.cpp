// checkText: what must hold of the bytes before they are read as YAML.
#include <algorithm>
#include <cstdint>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/Document.h"

namespace vime {

namespace {

constexpr std::size_t kLargestFile = 256 * 1024; // the largest job anybody wrote has a few KiB

std::string hexadecimal(std::uint32_t number, std::size_t digits) {
  std::string text;
  for (; number > 0 || text.size() < digits; number /= 16)
    text += "0123456789ABCDEF"[number % 16];
  return {text.rbegin(), text.rend()};
}

// One finding a line at most.
class LineCheck {
public:
  LineCheck(std::string_view line, int number, const std::string &file)
      : line(line), place{file, number} {}

  void run(Findings &findings) {
    bool indentation = true;
    std::string_view rest = line;
    for (place.column = 1; !rest.empty(); ++place.column) {
      const Character character = characterAt(rest);
      if (indentation && rest[0] == '\t')
        return tab(findings);
      indentation = indentation && rest[0] == ' ';
      if (!character.legal || (isControl(character.code) && rest[0] != '\t'))
        return illegal(character, static_cast<std::uint8_t>(rest[0]), findings);
      rest.remove_prefix(character.bytes);
    }
  }

private:
  void tab(Findings &findings) {
    findings.error(Rule::J, number(JobCode::Tab), "a tab in the indentation")
        .at(place, "YAML indents with spaces only")
        .withHelp("replace the tab by spaces, two for each level");
  }

  void illegal(const Character &character, std::uint8_t byte, Findings &findings) {
    if (!character.legal)
      findings
          .error(Rule::J, number(JobCode::Encoding),
                 "byte 0x" + hexadecimal(byte, 2) + " is not UTF-8")
          .at(place, "not a character")
          .withHelp("save the file as UTF-8");
    else
      findings
          .error(Rule::J, number(JobCode::Encoding),
                 "control character U+" + hexadecimal(character.code, 4))
          .at(place, "invisible")
          .withHelp("delete it");
  }

  std::string_view line;
  SourceSpan place;
};

} // namespace

bool checkText(std::string_view text, const std::string &file, Findings &findings,
               std::string_view what) {
  if (text.starts_with("VIME") && text.find('\0') != std::string_view::npos) {
    findings
        .error(Rule::J, number(JobCode::Encoding), "the file is a plan, not " + std::string(what))
        .at({.file = file})
        .withHelp(
            what == "a job"
                ? "`vimec show` prints a plan with the job that it was made from, `vime-exec` "
                  "runs it"
                : "`vimec show` prints a plan; `vimec machines h100-80g` prints a machine");
    return false;
  }
  if (text.size() > kLargestFile) {
    findings
        .error(Rule::J, number(JobCode::TooLarge),
               "the file has more than " + std::to_string(kLargestFile) + " bytes")
        .at({.file = file})
        .note("no " + std::string(what.substr(2)) + " needs as many");
    return false;
  }
  const std::size_t before = findings.size();
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r') && end != std::string_view::npos)
      line.remove_suffix(1);
    LineCheck(line, number, file).run(findings);
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
  }
  return findings.size() == before;
}

} // namespace vime
