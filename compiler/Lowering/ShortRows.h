// ShortRows: an order that repeats, with fewer microbatches.
//
//   auto [order, left] = *shortRows(oneFOneB({.ranks = 4, .microbatches = 1'000'000}), 1'000'000);
//   // the order of some hundred microbatches; `left` many were taken out of the middle
//
// Looks at rows of tasks alone: a run of each, around its middle, is the same some microbatches
// further on. So many repetitions stay that a clock can settle.
#pragma once

#include <optional>

#include "schedules/Schedule.h"

namespace vime {

struct ShortRows {
  Schedule order;
  int left = 0; // microbatches
};

/// Nothing if the rows do not repeat, or too few times to be worth it.
std::optional<ShortRows> shortRows(const Schedule &order, int microbatches);

} // namespace vime
