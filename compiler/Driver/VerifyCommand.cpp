#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

int runVerify(const std::string &path, const OutputOptions &output) {
  if (holdsTable(path))
    return runVerifyOrder(path, output);
  const StatusOr<plan::Plan> plan = plan::readPlan(path);
  if (!plan.ok())
    return reportFailure(plan.status(), output);
  Findings findings;
  // The job's text stands in the plan with other lines than in the user's file: positions are
  // named, not drawn.
  verifyPlan(*plan, findings, "the job of " + path);
  SourceCache sources;
  if (findings.any() || output.json)
    return reportFindings(findings, sources, output, StatusCode::Unacceptable);
  std::cerr << path << ": proved\n";
  for (const ProvedRule &proved : provedRules())
    std::cerr << "  " << nameOf(proved.rule) << "  " << proved.sentence << "\n";
  return 0;
}

} // namespace vime
