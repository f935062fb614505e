// Measured: what a run did, in the words of the simulator: the same times of the same actions, so
// that both are drawn and reported alike, and what its tasks cost, so that it can be predicted.
//
//   StatusOr<std::vector<trace::RankTrace>> traces = readTraces("traces", table, planId(plan));
//   alignClocks(table, *traces);
//   Simulated run = measuredStep(table, *traces, *lastStepOf(table, *traces));
//   Durations costs = measuredDurations(table, *traces);
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/Analysis/AlignClocks.h"
#include "compiler/Analysis/Simulate.h"
#include "compiler/Analysis/TracedSteps.h"

namespace vime {

/// Times of that step. A transfer was ready when both ends were posted, and ended when the first of
/// its ranks saw it end; where that one had not waited for it, it is said to have ended at once.
/// The period is that to the step before, if that was traced too.
Simulated measuredStep(const verify::ActionTable &table,
                       const std::vector<trace::RankTrace> &traces, std::uint32_t step);

/// Times of all traced steps, in nanoseconds. Of tasks the mean of each step: the first one behind
/// an update may take longer than the others, and a step has all of them.
struct ObservedTimes {
  std::map<std::pair<std::uint32_t, plan::Opcode>, std::vector<std::int64_t>> stages;
  std::map<plan::Opcode, std::vector<std::int64_t>> ranks; // what belongs to no stage
  std::vector<std::vector<std::int64_t>> generation;       // of each engine
  /// From one action of a rank to the next, where that waits for nothing.
  std::vector<std::int64_t> dispatch;
  /// Of messages that somebody waited for, from when both ends were posted: by their bytes.
  std::map<std::uint64_t, std::vector<std::int64_t>> boundaries, messages;
};
ObservedTimes observedTimes(const verify::ActionTable &table,
                            const std::vector<trace::RankTrace> &traces);

/// The middle one; 0 of none.
std::int64_t median(std::vector<std::int64_t> values);

/// Medians of what was observed.
Durations measuredDurations(const verify::ActionTable &table,
                            const std::vector<trace::RankTrace> &traces);

} // namespace vime
