// Causes: what the time of a step is spent on, the mean of its ranks: parts that together are the
// period.
//
//   for (const Cause &cause : causesOf(table, run, report)) // largest first
//     nameOf(cause.kind), cause.time, cause.rank            // "cool-down", 3 units, most on rank 3
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/Analysis/StepReport.h"

namespace vime {

enum class CauseKind : std::uint8_t {
  Tasks,         // forwards and backwards
  Evaluation,    // of held-out text
  Optimizer,     // updates and collectives: what ranks do around the tasks of a step
  WarmUp,        // this and what follows as IdleTime has them (StepReport.h)
  Dependence,    // what a task needs is still being computed
  Communication, // … or on its way
  Imbalance,     // the busiest rank has more to do
  CoolDown,      // behind a rank's last task
  Rollout        // in front of the pipeline of a step that begins a round
};

struct Cause {
  CauseKind kind{};
  std::int64_t time = 0;  // nanoseconds of a period, mean of the ranks that train
  std::int64_t most = 0;  // of a rank
  std::uint32_t rank = 0; // that one, the first of several
};

/// "warm-up".
std::string_view nameOf(CauseKind kind);
/// What happens meanwhile, in a sentence.
std::string_view sentenceOf(CauseKind kind);

/// Those that take any time, largest first; rounded, their sum may miss the period by a nanosecond
/// each. Of a run that was not stuck.
std::vector<Cause> causesOf(const verify::ActionTable &table, const Simulated &run,
                            const StepReport &report);

} // namespace vime
