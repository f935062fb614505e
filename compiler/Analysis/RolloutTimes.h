// RolloutTimes: what stands in front of the pipeline in a step of a plan with rounds.
//
//   const RolloutTimes times = rolloutTimesOf(table, run);
//   times.sync, times.generation, times.scoring // of a step that begins a round; else nothing
//   times.rest                                  // deciding, packing and loading the step's part
//
// Training begins when the step's samples are loaded: where `vime-exec` begins to count, too. So a
// step is its rollout, then what a pipeline does with a text, and a bubble is one of the latter.
#pragma once

#include <cstdint>
#include <limits>

#include "compiler/Analysis/Simulate.h"

namespace vime {

struct RolloutTimes {
  std::int64_t sync = 0;       // from the first engine that pauses to the last one that goes on
  std::int64_t generation = 0; // from drawing prompts until the last engine is through
  std::int64_t scoring = 0;    // from there until samples have advantages
  std::int64_t rest = 0;       // of what stands in front of training
  std::int64_t all() const { return sync + generation + scoring + rest; }
};

/// Moments of a step, as its actions are seen in any sequence.
class RolloutMarks {
public:
  struct Seen {
    plan::Opcode opcode;
    std::int64_t begin, end;
  };
  void see(const Seen &action);
  /// When its samples were loaded; nothing for a step of a text.
  bool hasLoaded() const { return loaded != kNever; }
  std::int64_t trainsFrom() const { return loaded; }
  /// Of a step that begins where the one before it ended.
  RolloutTimes times(std::int64_t begin) const;

private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  std::int64_t paused = kNever, resumed = kNever, drawn = kNever, generated = kNever,
               scored = kNever, loaded = kNever;
};

/// Of the last step that was simulated.
RolloutMarks rolloutMarksOf(const verify::ActionTable &table, const Simulated &run);
RolloutTimes rolloutTimesOf(const verify::ActionTable &table, const Simulated &run);

} // namespace vime
