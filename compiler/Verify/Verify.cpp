#include "compiler/Verify/Verify.h"

#include <array>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/CheckPlan.h"

namespace vime {

using namespace verify;

std::span<const ProvedRule> provedRules() {
  static constexpr std::array kRules = {
      ProvedRule{Rule::S3,
                 "each stage lives on exactly one rank of a replica, and indices are in range",
                 verifyStagesPlaced},
      ProvedRule{Rule::S1,
                 "each stage runs every microbatch forward and backward exactly once a step",
                 verifyTasksComplete},
      ProvedRule{Rule::S2, "every task reads what the task before it produced, along every path",
                 verifyDependencesHold},
      ProvedRule{Rule::S4,
                 "gradients add up in ascending microbatch (of a table: as it says), are reduced over "
                 "the replicas once, scaled once, then the optimizer runs once",
                 verifyGradientsAndUpdate},
      ProvedRule{Rule::C1,
                 "the k-th send and the k-th receive of a channel agree in bytes, type and flow",
                 verifyTransfersAgree},
      ProvedRule{Rule::C2,
                 "the logical clock increases along every dispatch order and joins both ends of a "
                 "transfer: "
                 "no rank waits for itself",
                 verifyClockIncreases},
      ProvedRule{Rule::C3, "every member of a group makes every call alike", verifyGroupsAgree},
      ProvedRule{Rule::M1, "arenas hold exactly their buffers and stay under the limit",
                 verifyArenasFit},
      ProvedRule{Rule::M2, "buffers that share bytes are used one after the other",
                 verifySharedBytesOrdered},
      ProvedRule{
          Rule::M3,
          "nothing is read before it is there or overwritten before its last use, sends included",
          verifyBuffersOrdered},
  };
  return kRules;
}

void verifyPlan(const plan::Plan &plan, Findings &findings, const std::string &jobFile) {
  Verdict verdict(plan, findings, jobFile);
  if (verifyIndicesInRange(plan, verdict)) {
    const ActionTable table(plan);
    for (const ProvedRule &proved : provedRules())
      proved.judge(table, verdict);
    if (const Status status = verdict.any() ? Status() : plan::checkPlan(plan); !status.ok())
      verdict.error(Rule::S3, 22,
                    status.message()); // sizes that tasks need, and all else that a rank looks at
  }
  verdict.close();
}

} // namespace vime
