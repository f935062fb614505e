// TaskCosts: what tasks cost where stages differ, in any unit: nanoseconds of a plan, say.
//
//   TaskCosts costs = taskCosts({.forward = 10, .backwardInput = 12, .backwardWeight = 8}, 4);
//   costs.stages[3].forward = 14; // the head
//   periodsOf(order, costs).barrier
#pragma once

#include "schedules/Schedule.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vime {

/// Of one microbatch. A whole backward may take less than its halves together, or more.
struct StageCosts {
  std::int64_t forward = 0, backwardInput = 0, backwardWeight = 0, backward = 0;

  std::int64_t of(TaskKind kind) const {
    switch (kind) {
    case TaskKind::Forward:
      return forward;
    case TaskKind::Backward:
      return backward;
    case TaskKind::BackwardInput:
      return backwardInput;
    case TaskKind::BackwardWeight:
      return backwardWeight;
    case TaskKind::Idle:
      break;
    }
    return 0;
  }
};

struct TaskCosts {
  std::vector<StageCosts> stages; // of all copies, as a placement has them
  std::int64_t transfer = 0;      // from one rank to another
  /// Of the time that its two tasks take, what an overlapped pair takes; 1: it saves nothing, but
  /// what both need has to be there before it begins. 0: one of the two runs behind the other.
  double pair = 0;

  std::int64_t of(const Task &task) const {
    return stages[static_cast<std::size_t>(task.stage)].of(task.kind);
  }
};

/// All stages alike.
inline TaskCosts taskCosts(UnitCosts costs, std::size_t stages) {
  const StageCosts each{costs.forward, costs.backwardInput, costs.backwardWeight,
                        std::int64_t{costs.backwardInput} + costs.backwardWeight};
  return {std::vector<StageCosts>(stages, each), costs.transfer};
}

} // namespace vime
