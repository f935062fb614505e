// MergeBackwards: an input gradient, and right behind it the weight gradient of the same stage and
// microbatch, as one whole backward.
//
//   mergeBackwards(order, Merging::All)          // 0I0 0I1 0W0 0I2 0W2 -> 0I0 0I1 0W0 0B2
//   mergeBackwards(order, Merging::WhereItPays)  // no task but the merged ones at another time
//
// A whole backward computes the same bits, keeps nothing between its halves and is one task; but
// the gradient that it passes on leaves later, by its weight gradient. It pays where nobody waits
// for that: in a first stage, where the next stage is on the same rank, and where the next rank
// would run something else meanwhile. There no other task begins later than before, so that no step
// gets longer at these costs, and a merged order has nothing more to merge.
#pragma once

#include "schedules/Schedule.h"

#include <cstddef>

namespace vime {

enum class Merging : std::uint8_t { Nowhere, WhereItPays, All };

/// Idle slots between the two halves are left out; a half that is part of a pair stays as it is. An
/// order that never finishes is merged where nothing is sent.
Schedule mergeBackwards(Schedule order, Merging merging, UnitCosts costs = {});

/// Of an order: input gradients, and those with their weight gradient right behind them.
struct HalvesOfBackwards {
  std::size_t all = 0, neighbours = 0;
};
HalvesOfBackwards halvesOf(const Schedule &order);

} // namespace vime
