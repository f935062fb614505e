// vimec assemble: the text of a plan to its bytes.
#include <iostream>
#include <unistd.h>

#include "compiler/Driver/Commands.h"
#include "compiler/Verify/Verify.h"
#include "compiler/View/PlanTextReader.h"
#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

namespace {

// Why the plan cannot go where it is to go.
Status checkOutput(const AssembleArguments &arguments, const OutputOptions &output) {
  if (const std::string input = replacedBy(arguments.plan, {arguments.text}); !input.empty())
    return Status(StatusCode::Usage,
                  "the output would replace `" + input + "`, which it is made from");
  if (arguments.plan == "-" && output.json)
    return Status(StatusCode::Usage, "the plan and `--json` both go to standard output");
  if (arguments.plan == "-" && isatty(STDOUT_FILENO) != 0)
    return Status(StatusCode::Usage, "a plan is no text for a terminal");
  return Status();
}

StatusOr<plan::Plan> readPlanText(const std::string &path) {
  const StatusOr<std::string> text = readWholeFile(path);
  if (!text.ok())
    return text.status();
  StatusOr<plan::Plan> plan = parsePlanText(*text);
  if (!plan.ok())
    return Status(StatusCode::InvalidInput, path + ':' + plan.status().message());
  if (const Status sound = plan::checkPlan(*plan); !sound.ok())
    return Status(StatusCode::InvalidInput, path + ": " + sound.message());
  return plan;
}

} // namespace

int runAssemble(const AssembleArguments &arguments, const OutputOptions &output) {
  if (const Status status = checkOutput(arguments, output); !status.ok())
    return reportFailure(status, output, "name another file behind `-o`");
  const StatusOr<plan::Plan> plan = readPlanText(arguments.text);
  if (!plan.ok())
    return reportFailure(plan.status(), output);
  Findings findings;
  if (!arguments.unproved)
    verifyPlan(*plan, findings, "the job of " + arguments.text);
  SourceCache sources;
  if (findings.any())
    return reportFindings(findings, sources, output);
  const Status written = arguments.plan == "-" ? writeText("-", plan::serializePlan(*plan))
                                               : plan::writePlan(*plan, arguments.plan);
  if (!written.ok())
    return reportFailure(written, output);
  if (output.json)
    return reportFindings(findings, sources, output);
  std::cerr << arguments.plan << (arguments.unproved ? ": written without proof\n" : ": proved\n");
  return 0;
}

} // namespace vime
