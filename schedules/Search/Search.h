// Search: a short order under a memory cap, for given costs, where no rule is known to be best.
//
//   Schedule order = searched({.shape = shape, .placement = veePlacement(shape), .memory = 8,
//                              .starts = {&orders::zeroBubbleV}});
//
// Makes the makespan small, then the longest span. Starts from orders by rule, whose times are
// bettered by list scheduling to and fro; then from changed keys, until a bound is met or a number
// of steps is spent. The same shape gives the same order on every machine. Source: keyed list
// scheduling with forward-backward improvement and late acceptance (Burke and Bykov 2017).
#pragma once

#include "schedules/Registry.h"

#include <vector>

namespace vime {

struct SearchTask {
  ScheduleShape shape;
  Placement placement; // at most two stages on a rank
  int memory;          // most activations alive on a rank, at least one for each of its stages
  std::vector<const Order *> starts; // on that placement; they may hold more
};

Schedule searched(const SearchTask &task);

} // namespace vime
