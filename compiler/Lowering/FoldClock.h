// FoldClock: where a clock repeats itself, some microbatches further each time, so that a program
// need not grow with their number.
//
//   foldClock(*layClock(oneFOneB({.ranks = 4, .microbatches = 512}), 512), 4, 512).parts
//   // flat, then a loop of one microbatch some 500 times, then flat
//
// Found by comparing nodes, not by the name of the order: the same tasks and transfers of all
// ranks, shifted by `advance` microbatches and by one period of the clock. An order that never
// settles, or is too short, is one flat part.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/PipelineClock.h"

namespace vime {

/// Nodes [begin, end) of the clock; of a loop those of its first trip.
struct ClockPart {
  std::size_t begin = 0, end = 0;
  std::uint32_t trips = 1;
  std::uint32_t shown = 1; // of them, in the clock
  int advance = 0;         // microbatches from one trip to the next; 0: no loop
  int period = 0;          // parts of a unit of time, likewise
  bool isLoop() const { return advance != 0; }
};

struct FoldedClock {
  PipelineClock clock;
  std::vector<ClockPart> parts;
  /// A pass with fewer microbatches is the same with fewer trips in each loop.
  bool shrinks = false;

  bool hasLoops() const { return parts.size() > 1; }
  /// The least advance that takes a trip from each loop; 0 if nothing does.
  std::uint32_t perTrip() const;
  /// Whether a pass with `fewer` microbatches less is this one with fewer trips.
  bool covers(std::uint32_t fewer) const;
};

/// Of a pass over so many stages with so many microbatches. Trips go on by whole samples: by a
/// multiple of the slices that these are cut into.
FoldedClock foldClock(PipelineClock clock, int stages, int microbatches, int slices = 1);

/// All of the clock as one part.
FoldedClock unfolded(PipelineClock clock);

/// Nodes that a program has, and those that it runs.
struct CountedNodes {
  std::uint64_t kept = 0, all = 0;
};
CountedNodes countNodes(const FoldedClock &folded);

} // namespace vime
