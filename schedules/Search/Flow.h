// A flow: the passes that every microbatch takes through the ranks, what each of them waits for,
// and what it does to the memory of its rank.
//
//   Flow flow = flowOf(shape, veePlacement(shape), /*memory=*/8);
//   Timing timing = listScheduled(flow, keys);        // ListScheduling.h
//   Schedule order = orderOf(flow, timing);
//
// All microbatches are alike, so each pass takes them in ascending order, and a time table is a
// row of starts per pass. A flow can be run backwards: what is early at its end is late at its
// beginning, which is how searches repair the part that a greedy choice never sees.
#pragma once

#include "schedules/Schedule.h"

#include <array>
#include <cstdint>
#include <vector>

namespace vime {

inline constexpr int kPassesOfStage = 3; // F, I and W, in this sequence

struct Pass {
  int rank;
  std::int64_t duration;
  std::array<int, 2> needs{-1, -1};   // passes of the same microbatch, -1: none
  std::array<std::int64_t, 2> hops{}; // time from there to here
  std::array<int, 2> feeds{-1, -1};   // passes that need this one
  int holds = 0;                      // 1: takes an activation, -1: leaves one
};

struct Flow {
  Placement placement;
  int ranks;
  int microbatches;
  int memory;               // most activations that a rank may hold
  std::vector<Pass> passes; // stage by stage

  std::size_t at(std::size_t pass, int microbatch) const {
    return pass * static_cast<std::size_t>(microbatches) + static_cast<std::size_t>(microbatch);
  }
  std::size_t size() const { return passes.size() * static_cast<std::size_t>(microbatches); }
};

/// Per pass, microbatch by microbatch (`Flow::at`).
using Times = std::vector<std::int64_t>;

/// When every pass starts.
struct Timing {
  Times start;
  std::int64_t makespan = 0;
  std::int64_t span = 0;  // of the rank that has the longest
  std::int64_t spans = 0; // of all ranks
};

/// At most two stages per rank; a microbatch must come through the lower one first.
Flow flowOf(ScheduleShape shape, Placement placement, int memory);

/// The same passes from the end: needs are turned round, and what left memory takes it.
Flow reversed(const Flow &flow);

/// What the fullest rank works for one microbatch.
std::int64_t workPerMicrobatch(const Flow &flow);

/// When each pass of a microbatch starts that is alone on the ranks.
Times startsWhenAlone(const Flow &flow);

/// Adds what the timing says of itself.
Timing timed(const Flow &flow, Times start);

/// The timing of the reversed flow seen from the beginning, and back.
Timing mirrored(const Flow &flow, const Timing &timing);

/// Each rank's passes in the order of their starts.
Schedule orderOf(const Flow &flow, const Timing &timing);

/// When the passes of an order of the same flow start, if each starts as early as it can.
Timing timingOf(const Flow &flow, const Schedule &order, UnitCosts costs);

} // namespace vime
