#include "tests/Mutation/Trial.h"

#include <algorithm>

#include "compiler/Verify/Verify.h"
#include "compiler/Verify/VerifyOrder.h"
#include "schedules/Notation.h"
#include "schedules/OrderTable.h"
#include "tests/Interpreter/OrderRun.h"
#include "tests/Mutation/StricterRules.h"
#include "tests/lowering/Lowered.h"

namespace vime {

using interpreter::Fault;

namespace {

std::vector<std::string> codesOf(const Findings &findings) {
  std::vector<std::string> codes;
  for (const Finding &finding : findings.all())
    if (const std::string code = codeOf(finding.rule, finding.number);
        std::find(codes.begin(), codes.end(), code) == codes.end())
      codes.push_back(code);
  return codes;
}

std::vector<std::string> judged(const plan::Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings);
  return codesOf(findings);
}

std::vector<std::string> judgedCells(const Schedule &order) {
  const auto table = readTable(toCsv(order));
  if (!std::holds_alternative<OrderTable>(table))
    return {"unreadable"};
  Findings findings;
  verifyOrder(std::get<OrderTable>(table), "mutant.csv", findings);
  return codesOf(findings);
}

/// Whether every code has a reason; `reason` is that of the first.
bool areStricter(const Trial &trial, std::string_view mutation, std::string_view &reason) {
  for (const std::string &code : trial.codes)
    if (reasonFor(code, mutation).empty())
      return false;
  reason = reasonFor(trial.codes.front(), mutation);
  return true;
}

void compare(Trial &trial, std::string_view mutation) {
  const bool harmless = trial.verdict.fault == Fault::None;
  if (trial.codes.empty())
    trial.agreement = harmless ? Agreement::Accepted : Agreement::WrongAccept;
  else if (harmless)
    trial.agreement =
        areStricter(trial, mutation, trial.reason) ? Agreement::Stricter : Agreement::WrongRefusal;
  else
    trial.agreement = Agreement::Refused;
  if (trial.agreement == Agreement::Refused && trial.verdict.orderedByPeers) {
    trial.agreement = Agreement::Stricter;
    trial.reason = kOrderedByPeers;
  }
}

} // namespace

Trial tryPlan(const plan::Plan &mutant, std::string_view mutation) {
  Trial trial;
  trial.codes = judged(mutant);
  trial.verdict = interpreter::judge(mutant, interpreter::coursesOf(mutant));
  compare(trial, mutation);
  return trial;
}

Trial tryOrder(const BaseOrder &base, const Schedule &mutant, std::string_view mutation) {
  Trial trial;
  trial.codes = judgedCells(mutant);
  const std::uint32_t microbatches = base.job.pipeline.microbatches.value;
  if (std::string wrong = interpreter::runOrder(mutant, static_cast<int>(microbatches));
      !wrong.empty())
    trial.verdict = {Fault::Tasks, std::move(wrong)};
  compare(trial, mutation);
  if (trial.agreement != Agreement::Accepted)
    return trial;
  Job job = base.job;
  job.pipeline.schedule.value = "mutant.csv"; // its gradients add up as it has them
  const auto plan = lowered(job, mutant, {microbatches});
  if (plan)
    return tryPlan(*plan, mutation);
  trial.codes = {"not lowered"};
  trial.agreement = Agreement::WrongRefusal;
  return trial;
}

} // namespace vime
