// TracedRounds: the rounds of a traced run: how long each took, its rollout, and each engine's
// generation. Whatever numbers of microbatches their steps had.
//
//   for (const TracedRound &round : tracedRounds(plan, traces)) // clocks aligned
//     round.period, round.rollout.generation
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/Analysis/RolloutTimes.h"
#include "runtime/Trace/Trace.h"

namespace vime {

struct TracedRound {
  std::uint32_t round = 0;
  std::int64_t period = 0;              // from the end of the round before it
  RolloutTimes rollout;                 // `rest`: of each of its steps
  std::vector<std::int64_t> generation; // of each engine
};

/// Those that were traced whole, the end of the round before them too, and neither evaluate nor
/// save. Traces of all ranks of the table.
std::vector<TracedRound> tracedRounds(const plan::Plan &plan,
                                      const std::vector<trace::RankTrace> &traces);

/// Of each of their numbers the middle one; the parts of several may not add up. Of at least one.
TracedRound medianOf(const std::vector<TracedRound> &rounds);

/// Of which kind most traced steps are that begin a round, or do not; of any plan the steady kind
/// if there is one of it. Nothing if none was traced whole.
std::optional<StepKind> tracedKindOf(const plan::Plan &plan,
                                     const std::vector<trace::RankTrace> &traces, bool beginsRound);

} // namespace vime
