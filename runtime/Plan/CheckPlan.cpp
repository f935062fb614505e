#include "runtime/Plan/CheckPlan.h"

#include "runtime/Plan/CheckParts.h"
#include "runtime/Plan/OperandRules.h"

namespace vime::plan {
namespace {

Status checkCoordinate(const Plan &plan, std::uint32_t coordinate, std::uint64_t mostTensors) {
  if (Status status = checkLayout(plan, coordinate); !status.ok())
    return status;
  return checkProgram(plan, coordinate, mostTensors);
}

} // namespace

Status checkPlan(const Plan &plan) {
  if (Status status = checkCommon(plan); !status.ok())
    return status;
  if (!isCleanText(plan.job, /*lines=*/true))
    return unacceptable("the plan's job is not UTF-8 text");
  const std::uint64_t mostTensors = mostTensorsOf(plan);
  for (std::uint32_t coordinate = 0; coordinate < plan.mesh.pipeline; ++coordinate)
    if (Status status = checkCoordinate(plan, coordinate, mostTensors); !status.ok())
      return status;
  return Status();
}

Status checkRankPlan(const Plan &plan, std::uint32_t rank) {
  if (Status status = checkCommon(plan); !status.ok())
    return status;
  return checkCoordinate(plan, rank % plan.mesh.pipeline, mostTensorsOf(plan));
}

} // namespace vime::plan
