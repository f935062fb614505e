// Share: which microbatches of a step a replica takes: a run of them, as even as possible, earlier
// replicas first to get one more.
//
//   shareOf(/*microbatches=*/5, /*replicas=*/2, /*replica=*/0)   // {0, 3}
//   shareOf(5, 2, 1)                                             // {3, 2}
//
// So two replicas of four microbatches take those that one replica of eight has, in that order.
#pragma once

#include <cstdint>

namespace vime {

struct Share {
  std::uint32_t first = 0, count = 0;
};

constexpr Share shareOf(std::uint32_t microbatches, std::uint32_t replicas, std::uint32_t replica) {
  const auto first = [&](std::uint64_t index) {
    return static_cast<std::uint32_t>((index * microbatches + replicas - 1) / replicas);
  };
  return {first(replica), first(replica + std::uint64_t{1}) - first(replica)};
}

/// Of the replica that takes most of them.
constexpr std::uint32_t largestShare(std::uint32_t microbatches, std::uint32_t replicas) {
  return microbatches / replicas + (microbatches % replicas != 0 ? 1 : 0);
}

} // namespace vime
