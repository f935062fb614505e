// LongLoops: loops over microbatches of which a few trips show what all trips do, so that a plan is
// judged for any number of them at once.
//
// A case is a program by itself: lanes are drained at both its edges. Let it run all microbatches
// of its pass, as flat parts and loops in turn, where the loops are the same on all ranks; every
// action in them advances by as many microbatches; what one loop does no other one does; in front
// of it stand only smaller microbatches, right behind it only larger ones; what no loop does stays
// in front of one or goes on behind it; slots of rings are told apart by microbatch alone, and each
// ring that several lanes use belongs to one loop and is written anew in every trip. Then a trip
// more in each loop shifts all that stands behind, by one period of the clock, one advance of
// microbatches, and as many actions on each lane.
//
// What one action has to do with another of the same loop (it waits for it, receives from it, reads
// what it wrote, or takes the slot that it leaves) is then at most so many trips away, which is
// counted here. What is farther away is ordered along a lane, since each action comes after itself
// of the trip before. Two loops have to do with each other where one ends and the other begins, and
// by slots that belong to one microbatch each: as many trips behind the start of one as behind that
// of the other, but for a few. So with more trips than that no action meets anything that it did
// not meet already. For whatever is ordered stays so: a path of lanes and waits visits the parts of
// a case in their order, and in each loop it can stay for a trip more on the lane where it is.
// (execution-model.md, Loops)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::verify {

struct LongLoops {
  std::vector<const plan::Loop *> loops; // of the first rank, as they stand in the case
  std::uint32_t enough = 0;              // trips of the shortest that show what more of them do
  std::uint32_t advance = 0;             // microbatches of a trip
};

/// The loops of a case, if they are of this kind on all ranks, which all have the case. Whether it
/// alone runs its pass is not asked here (PassPlaces.h). The plan has passed
/// `verifyIndicesInRange`. A pass has `microbatches` at most.
std::optional<LongLoops> longLoopsOf(const plan::Plan &plan, std::size_t caseIndex,
                                     std::uint32_t microbatches);

} // namespace vime::verify
