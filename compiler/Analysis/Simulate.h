// Simulate: when each action of a plan is posted, starts and ends, if all takes the times given.
//
//   verify::ActionTable table(plan, steadyStepOf(plan));
//   Simulated run = simulate(table, unitDurations(plan));
//   run.period                          // of steps that follow each other
//   run.times[entry].begin              // in the last step that was simulated
//
// Ranks do what the executor does: each dispatches its actions in their order, waits for what they
// wait for, computes at once, hands transfers and collectives over and goes on. A message starts
// when both of its ends are posted (strict rendezvous; a transport that buffers is no slower), a
// collective when all members have come, but a broadcast for each member when it and the root have:
// so Gloo and threads do it. A link, from one rank to another and one way, carries one
// message at a time. Ranks that share cores share their speed.
//
// Events are handled in the sequence of their times, so that a link or a core goes to whom it
// would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/Analysis/Durations.h"
#include "compiler/Verify/ActionTable.h"

namespace vime {

/// Waiting and transferring are never one number: posted ≤ ready ≤ begin ≤ end. Of what needs no
/// other rank the first three are the same moment, but for a queue of its own thread.
struct ActionTimes {
  std::int64_t posted = -1; // its rank came to it, and all that it waits for had ended
  std::int64_t ready = -1;  // the other ends, or members, were there too
  std::int64_t begin = -1;  // the link was free
  std::int64_t end = -1;
  // The entries that it came behind last; kNone: none in this step.
  std::uint32_t postedBehind = verify::kNone;
  std::uint32_t readyBehind = verify::kNone; // the end that was posted last, maybe its own
  std::uint32_t begunBehind = verify::kNone; // whose message the link carried before
  std::uint32_t peer = verify::kNone;        // the other end of a transfer
};

struct RankTotals {
  std::int64_t begin = 0, end = 0; // of the last step: first action posted, last one ended
  std::int64_t busy = 0;           // computing in it
};

struct Simulated {
  std::vector<ActionTimes> times;          // by entry; in a loop over steps those of the last step
  std::vector<RankTotals> ranks;           // of the table
  std::int64_t stepBegin = 0, stepEnd = 0; // of the last step, over all ranks
  std::int64_t period = 0;                 // from the end of the step before it to its end
  std::uint32_t steps = 1;                 // that were simulated
  /// Entries of the last step as they were posted, over all ranks: each behind all that it came
  /// behind. Empty of what was measured.
  std::vector<std::uint32_t> sequence;
  /// "rank 2 never passes action 14 (receive …)": no plan that was proved does that.
  std::optional<std::string> stuck;
};

/// A whole step as most of them are: it neither evaluates nor saves, if it can do without; of a
/// plan that commits early it stands, and is followed by the next one at once. Of a plan with
/// rounds it begins one.
verify::Choice steadyStepOf(const plan::Plan &plan);

/// Which of a plan's steps; it neither evaluates nor saves.
struct StepKind {
  bool beginsRound = true;        // of a plan with rounds of several steps
  std::uint32_t microbatches = 0; // one of those that it may have; 0: the most
  bool operator==(const StepKind &) const = default;
};
verify::Choice stepOf(const plan::Plan &plan, StepKind kind);

/// So many trips of the loop over steps, at least one, at most those of the plan. The table is
/// unshortened (`steadyStepOf`).
Simulated simulate(const verify::ActionTable &table, const Durations &durations,
                   std::uint32_t steps = 3);

} // namespace vime
