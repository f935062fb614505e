// The reference pages of job.yaml: Markdown and the manual, both row by row from the field table.
#include "compiler/Reference/JobSchema.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Reference/FieldWords.h"
#include "runtime/CommandLine/ManPage.h"

namespace vime {

namespace {

// `|` ends a cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text)
    escaped += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return escaped;
}

std::string valueText(const FieldSpec &field) {
  const std::string range = rangeOf(field);
  return kindOf(field) + (range.empty() ? "" : ", " + range);
}

std::string sentenceOf(const FieldSpec &field) {
  if (field.family.empty())
    return std::string(field.sentence);
  std::string families;
  for (const char letter : field.family)
    families += letter == ' ' ? std::string("`, `") : std::string(1, letter);
  return fmt::format("{} (family `{}`)", field.sentence, families);
}

bool isShown(const FieldSpec &field) {
  return !field.isLater() && field.type != FieldType::Section;
}

} // namespace

std::string jobReference() {
  std::string text = "| field | takes | default | says |\n| --- | --- | --- | --- |\n";
  for (const FieldSpec &field : fieldTable())
    if (isShown(field))
      text += fmt::format("| `{}` | {} | {} | {} |\n", shownPath(field), cell(valueText(field)),
                          cell(originOf(field)), cell(sentenceOf(field)));
  return text;
}

std::string jobManPage(const std::string &version) {
  std::string text = fmt::format(".TH VIME\\-JOB 5 \"\" \"vime {}\" \"File Formats\"\n"
                                 ".SH NAME\nvime\\-job \\- the job that vimec compiles\n"
                                 ".SH FIELDS\n",
                                 version);
  for (const FieldSpec &field : fieldTable())
    if (isShown(field))
      text += fmt::format(".TP\n\\fB{}\\fR\n{}.\n.br\nTakes {}; default {}.\n",
                          roffText(shownPath(field)), roffText(sentenceOf(field)),
                          roffText(valueText(field)), roffText(originOf(field)));
    else if (!field.isLater())
      text += fmt::format(".SS {}\n{}.\n", roffText(shownPath(field)), roffText(field.sentence));
  return text + ".SH SEE ALSO\n" + roffText("vimec(1), vime-exec(1)") + '\n';
}

} // namespace vime
