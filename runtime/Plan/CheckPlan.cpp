#include "runtime/Plan/CheckPlan.h"

#include "runtime/Plan/CheckParts.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/OperandRules.h"

namespace vime::plan {
namespace {

Status checkRank(const Plan &plan, std::uint32_t rank) {
  if (Status status = checkLayout(plan, rank); !status.ok())
    return status;
  return checkProgram(plan, rank);
}

} // namespace

Status checkPlan(const Plan &plan) {
  if (Status status = checkCommon(plan); !status.ok())
    return status;
  if (!isCleanText(plan.job, /*lines=*/true))
    return unacceptable("the plan's job is not UTF-8 text");
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank)
    if (Status status = checkRank(plan, rank); !status.ok())
      return status;
  return Status();
}

Status checkRankPlan(const Plan &plan, std::uint32_t rank) {
  if (Status status = checkCommon(plan); !status.ok())
    return status;
  return checkRank(plan, representativeOf(plan.mesh, rank));
}

} // namespace vime::plan
