// vimec explain: tells by what an argument is what is to be said about it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/ExplainJob.h"
#include "compiler/Driver/ExplainPlan.h"
#include "compiler/Driver/ExplainRecords.h"
#include "compiler/Driver/InputKind.h"
#include "compiler/Reference/CodePage.h"
#include "compiler/Reference/FieldPage.h"

namespace vime {

namespace {

bool isPlan(const std::string &subject) { return kindOf(subject) == InputKind::Plan; }

bool isFile(const std::string &subject) {
  std::error_code error;
  return subject == "-" || subject.find('/') != subject.npos || subject.ends_with(".yaml") ||
         subject.ends_with(".yml") || std::filesystem::exists(subject, error);
}

int unknownCode(const std::string &subject, const OutputOptions &output) {
  std::string known;
  for (const std::string &code : allCodes())
    if (code[0] == std::toupper(static_cast<unsigned char>(subject[0])))
      known += (known.empty() ? "" : ", ") + code;
  return reportFailure(Status(StatusCode::InvalidInput, "there is no code `" + subject + "`"),
                       output,
                       known.empty() ? "codes start with the letter of their rule: J, S, C, M"
                                     : "there are " + known);
}

int unknownSubject(const std::string &subject, const OutputOptions &output) {
  const auto near = nearestField(subject);
  return reportFailure(
      Status(StatusCode::InvalidInput, "`" + subject + "` is no field, no code and no file"),
      output,
      near ? "did you mean the field `" + *near + "`?"
           : "a field such as `pipeline.schedule`, a code such as `J0012`, a job, a plan, or "
             "flight records");
}

int explainOne(const std::string &subject, const ExplainArguments &arguments,
               const OutputOptions &output) {
  if (const FieldSpec *field = lookUpField(subject)) {
    std::cout << (output.json ? fieldJson(*field) + '\n' : fieldPage(*field));
    return 0;
  }
  if (const auto page = output.json ? codeJson(subject) : codePage(subject)) {
    std::cout << *page << (output.json ? "\n" : "");
    return 0;
  }
  if (isPlan(subject))
    return explainPlan(subject, arguments, output);
  if (isFile(subject))
    return explainJob({.file = subject, .settings = arguments.settings}, output);
  return isCode(subject) ? unknownCode(subject, output) : unknownSubject(subject, output);
}

} // namespace

int runExplain(const ExplainArguments &arguments, const OutputOptions &output) {
  // Records of one run are one thing, in however many files.
  const std::vector<std::string> &all = arguments.subjects;
  if (std::all_of(all.begin(), all.end(), isRecord))
    return explainRecords(all, arguments.plan, output);
  if (!arguments.plan.empty())
    return reportFailure(Status(StatusCode::Usage, "`--plan` is for flight records"), output);
  if (output.json && all.size() > 1)
    return reportFailure(Status(StatusCode::Usage, "`--json` is one document, of one subject"),
                         output, "ask for each of them");
  const bool asksOfPlan = !arguments.job.empty() || !arguments.costs.costs.empty() ||
                          !arguments.costs.machine.empty() || !arguments.measured.empty();
  if (asksOfPlan && std::none_of(all.begin(), all.end(), isPlan))
    return reportFailure(Status(StatusCode::Usage, "`--job`, `--costs`, `--machine` and "
                                                   "`--measured` are for plans"),
                         output, "name one: `vimec explain plan.bin`");
  int code = 0;
  for (const std::string &subject : arguments.subjects) {
    if (&subject != &arguments.subjects.front() && !output.json)
      std::cout << "\n";
    if (const int failed = explainOne(subject, arguments, output); failed != 0)
      code = failed;
  }
  return code;
}

} // namespace vime
