// Unit time: when each task starts if tasks have integer costs.
//
//   UnitTimes times = simulate(oneFOneB({.ranks = 4, .microbatches = 8}));
//   times.makespan  // 33, of which every rank is busy 24
//
// This is the clock of the field's pictures and formulas, no forecast of seconds. Idle slots are
// dropped: a task starts when its rank is free and its inputs exist.
#pragma once

#include "schedules/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace vime {

/// Where an order that never completes stands still.
struct StuckTask {
  int rank;
  std::size_t position; // in the rank's row, idle slots counted
  Task task;
  std::string message; // "rank 2 stops at 2B0: it waits for 3B0, which no rank runs"
};

struct UnitTimes {
  /// Per row and position; -1: an idle slot, or never started.
  std::vector<std::vector<std::int64_t>> start;
  std::int64_t makespan = 0;      // end of the last task
  std::vector<std::int64_t> busy; // per rank
  std::vector<std::int64_t> span; // per rank: from the start of its first task to the end of its
                                  // last; what a step costs where steps follow without a barrier
  double bubble = 0;              // idle part of ranks × makespan, 0 to 1
  std::vector<int> peakLive;      // per rank: most activations (stage × microbatch) alive at once;
                                  // one lives from its forward to its B or W, in an order
                                  // without backwards as long as its forward
  std::optional<StuckTask> stuck; // then the rest covers what ran before
};

/// Runs the order. Any content is allowed: what cannot run is reported as stuck.
UnitTimes simulate(const Schedule &order, UnitCosts costs = {});

} // namespace vime
