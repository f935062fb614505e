#include "runtime/Data/BalancedPacking.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace vime {
namespace {

using Bins = std::vector<std::vector<std::uint32_t>>;

/// Puts things into bins, costliest first; nothing if one finds no room.
std::optional<Bins> intoBins(std::span<const std::uint32_t> lengths, std::span<const double> costs,
                             Packing::Room room, std::size_t count) {
  std::vector<std::uint32_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    return costs[left] > costs[right];
  });
  Bins bins(count);
  std::vector<std::uint32_t> tokens(count);
  std::vector<double> load(count);
  for (const std::uint32_t place : order) {
    std::optional<std::size_t> best;
    for (std::size_t bin = 0; bin < count; ++bin)
      if (bins[bin].size() < room.samples && room.tokens - tokens[bin] >= lengths[place] &&
          (!best || load[bin] < load[*best]))
        best = bin;
    if (!best)
      return std::nullopt;
    bins[*best].push_back(place);
    tokens[*best] += lengths[place];
    load[*best] += costs[place];
  }
  for (std::vector<std::uint32_t> &bin : bins)
    std::sort(bin.begin(), bin.end());
  return bins;
}

std::size_t divideUp(std::uint64_t count, std::uint64_t by) { return (count + by - 1) / by; }

} // namespace

Bins balancedPacking(std::span<const std::uint32_t> lengths, std::span<const double> costs,
                     Packing::Room room, std::uint32_t multiple) {
  const auto tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  const auto large = static_cast<std::size_t>(std::count_if( // no two fit together
      lengths.begin(), lengths.end(),
      [&](std::uint32_t length) { return length > room.tokens - length; }));
  const std::size_t least =
      std::max({divideUp(tokens, room.tokens), divideUp(lengths.size(), room.samples), large});
  // A microbatch for each sample is always enough.
  for (std::size_t count = divideUp(least, multiple) * multiple;; count += multiple)
    if (std::optional<Bins> bins = intoBins(lengths, costs, room, count))
      return *std::move(bins);
}

Bins balancedShares(std::span<const double> costs, std::uint32_t replicas) {
  const auto each = static_cast<std::uint32_t>(costs.size() / replicas);
  const std::vector<std::uint32_t> ones(costs.size(), 1);
  return *intoBins(ones, costs, {.tokens = each, .samples = each}, replicas);
}

} // namespace vime
