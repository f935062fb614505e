// BalancedPacking: samples in microbatches of about the same cost, none over its room.
//
//   balancedPacking(lengths, costs, {.tokens = 128, .samples = 4}, /*multiple=*/4)
//
// Costliest first, each sample goes into the cheapest microbatch that has room for it. There are as
// few microbatches as this finds room in, of multiples of `multiple`, so that replicas get as many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Data/Packing.h"

namespace vime {

/// Of each microbatch, places in `lengths`, ascending. No sample has more tokens than the room.
std::vector<std::vector<std::uint32_t>> balancedPacking(std::span<const std::uint32_t> lengths,
                                                        std::span<const double> costs,
                                                        Packing::Room room, std::uint32_t multiple);

/// Shares microbatches among replicas, each as many, as evenly in cost as the same rule finds.
/// Their number is a multiple of that of replicas. Returns the microbatches of each, ascending.
std::vector<std::vector<std::uint32_t>> balancedShares(std::span<const double> costs,
                                                       std::uint32_t replicas);

} // namespace vime
