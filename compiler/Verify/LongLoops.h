// LongLoops: loops over microbatches of which a few trips show what all trips do, so that a plan is
// judged for any number of them at once.
//
// A case is a program by itself: lanes are drained at both its edges, and microbatches count from
// 0. Let it be prologue, n trips of one loop, epilogue, where the loop is the same on all ranks,
// every action in it advances by as many microbatches, what stands in front belongs to microbatches
// before those of the loop and what stands behind to later ones, and slots of rings are told apart
// by microbatch alone. Then a trip more shifts what is behind it, by one period of the clock, one
// advance of microbatches, and as many actions on each lane.
//
// What one action has to do with another (it waits for it, receives from it, reads what it wrote,
// or takes the slot that it leaves) is then at most so many trips away, which is counted here. What
// is farther away is ordered along a lane, since each action comes after itself of the trip before.
// So with more trips than that no action meets anything that it did not meet already, prologue and
// epilogue do not meet, and what holds for that many trips holds for all larger numbers.
// (execution-model.md, Loops)
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/Plan/Plan.h"

namespace vime::verify {

struct LongLoop {
  const plan::Loop *found = nullptr; // of the first rank
  std::uint32_t enough = 0;          // trips that show what more of them do
  std::uint32_t advance = 0;         // microbatches of a trip
};

/// The loop of a case, if it is of this kind on all ranks. The plan has passed
/// `verifyIndicesInRange`. A pass has `microbatches` at most.
std::optional<LongLoop> longLoopOf(const plan::Plan &plan, std::size_t caseIndex,
                                   std::uint32_t microbatches);

} // namespace vime::verify
