// RoundTimes: a whole round of a plan: the step that begins it, and those that only train.
//
//   const RoundTimes round = simulatedRound(plan, durations, {.first = 7, .later = 7});
//   round.period, round.rollout.generation
//   round.engines.idle / (round.engines.ranks * round.period)
//
// Steps are simulated as if each followed one of its own kind. At the edge between two kinds ranks
// that are through earlier may begin the next step earlier than that; it begins with the
// coordinator, who is through last.
#pragma once

#include <cstdint>

#include "compiler/Analysis/StepReport.h"

namespace vime {

/// Of all ranks of a role together, in a round; nanoseconds.
struct RoleTimes {
  std::int64_t ranks = 0;
  std::int64_t busy = 0;
  std::int64_t sync = 0;  // of engines: weights come
  std::int64_t other = 0; // waits for the other role
  std::int64_t idle = 0;  // of ranks that train: the bubble
};

struct RoundTimes {
  std::uint32_t steps = 1;
  std::int64_t period = 0;
  RolloutTimes rollout; // `rest`: of each of its steps
  std::int64_t training = 0;
  double bubble = 0; // of training
  RoleTimes trainers, engines;
};

/// A round is put together of its steps, then finished by the one that begins it.
void addStep(const StepReport &step, std::int64_t times, RoundTimes &round);
void finishRound(const StepReport &first, RoundTimes &round);

/// Whether the table's step begins a round.
bool beginsRound(const verify::ActionTable &table);

/// `later`: of a step that does not begin a round; unused where each does.
RoundTimes roundOf(const plan::Plan &plan, const StepReport &first, const StepReport &later);

/// Of a proved plan with rounds; steps of so many microbatches, 0: the most.
struct RoundMicrobatches {
  std::uint32_t first = 0, later = 0;
};
RoundTimes simulatedRound(const plan::Plan &plan, const Durations &durations,
                          RoundMicrobatches microbatches = {});
/// The step that begins a round, or one that does not.
StepReport simulatedStep(const plan::Plan &plan, const Durations &durations, StepKind kind);

} // namespace vime
