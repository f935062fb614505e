// Bounds: times that no order of the same stages, microbatches and memory can undercut.
//
//   const Bounds bounds = boundsOf({.placement = linearPlacement({4, 8}), .ranks = 4,
//                                   .microbatches = 8, .memory = 4});
//   bounds.makespan.least, bounds.makespan.label   // 27, L2: ZB-H1 reaches it, so it is optimal
//
// The bounded orders may cut backwards in two and run them in any sequence. The time is unit time:
// any number of messages share a link.
//
//   L1 start    a rank begins when a first forward can reach it, and is busy for all of its tasks
//   L2 warm-up  before its first backward can come it runs no more forwards than its memory holds
//   L3 Little   an activation lives from its forward until its gradient has come back; what lives
//               at one time fits in the memory
//   L4 drain    behind the last forward the gradient goes back once more; what the memory holds is
//               all that is left to do meanwhile
//   L5 link     a link that carries one message at a time is busy for all of a step's messages
//   L6 cycle    L1 to L4 of a rank's span bound the period of steps that overlap, those of the
//               makespan that of steps with a barrier between them
#pragma once

#include "schedules/Placement.h"
#include "schedules/Schedule.h"
#include "schedules/TaskCosts.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace vime {

/// What the bounded orders have in common.
struct BoundedShape {
  Placement placement; // of all copies, as Schedule has it
  int ranks;
  int microbatches; // of each stage of a copy; a slice counts as one
  int memory = 0;   // most activations alive on a rank; 0: any number
  int copies = 1;
  UnitCosts costs{};
};

struct Bound {
  std::int64_t least = 0;
  std::string_view label; // of the strongest one: "L2"
};

struct Bounds {
  Bound makespan; // and by L6 the period with a barrier
  Bound span;     // of the longest rank; and by L6 the period without one
  /// What each of L1 to L4 says, the strongest rank's.
  std::array<std::int64_t, 4> makespans{}, spans{};
  /// L5: that of the busiest link in one direction. Not among the others, since the clock lets
  /// messages share a link.
  std::int64_t link = 0;
};

Bounds boundsOf(const BoundedShape &shape);

/// Where stages differ; `shape.costs` is not read.
Bounds boundsOf(const BoundedShape &shape, const TaskCosts &costs);

/// For an order that finishes: its own stages, as much memory as its fullest rank has.
BoundedShape boundedShapeOf(const Schedule &order, UnitCosts costs);

} // namespace vime
