// Verify: the judges of a final plan. They decide by the rules of execution-model.md alone and know
// nothing of how the plan was made: whatever keeps the rules passes.
//
//   Findings findings;
//   verifyPlan(plan, findings, "job.yaml");
//   if (!findings.any())
//     for (const ProvedRule &proved : provedRules())
//       print(proved.sentence);
//
// Any content is allowed; a plan whose indices lead nowhere is refused for that and judged no
// further.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "runtime/Plan/Plan.h"

namespace vime {

namespace verify {
class ActionTable;
class Verdict;
} // namespace verify

struct ProvedRule {
  Rule rule;
  std::string_view sentence; // what holds when it passes
  void (*judge)(const verify::ActionTable &table, verify::Verdict &verdict);
  /// Those of a wave are judged side by side. A later one passes over what an earlier one found
  /// wrong.
  int wave = 1;
};

/// What `verifyPlan` asks of a plan, in the order in which findings are told.
std::span<const ProvedRule> provedRules();

/// Adds a finding for each way in which the plan breaks a rule, a few of each code. `jobFile` is
/// what the user calls the job that `plan.origins` points into; empty: findings name no file.
void verifyPlan(const plan::Plan &plan, Findings &findings, const std::string &jobFile = {});

} // namespace vime
