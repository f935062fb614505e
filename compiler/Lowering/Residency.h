// Residency: when the whole weights of a stage are on a rank, where there is room for fewer stages
// than it has.
//
//   planResidency({0, 1, 2, 0}, /*window=*/2)
//   // in front of use 0: unshard 0 and 1; of use 1: nothing; of use 2: reshard 1, unshard 2 …
//
// Which stages give way is Belady's choice: the one whose next use is farthest, which needs the
// fewest unshards. Each is unsharded as soon as there is room for it, so that it travels while
// others compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vime {

/// Happens in front of a use, or, with their number, behind the last one.
struct ResidencyEvent {
  std::size_t before;
  std::uint32_t stage, slot;
  bool unshards; // else it is resharded
  bool operator==(const ResidencyEvent &) const = default;
};

enum class ResidencyRule : std::uint8_t { FewestUnshards, Torch };

/// `uses`: the stages of a rank's tasks, in their order. `window`: slots, at least one. Events in
/// the order in which they happen; in the end everything is resharded.
///
/// Torch: PyTorch's rule with as many slots. In front of each use those stages are there that are
/// the next `window` distinct ones from it on, in the order of their first use; others give way in
/// ascending order.
std::vector<ResidencyEvent> planResidency(std::span<const std::uint32_t> uses, std::uint32_t window,
                                          ResidencyRule rule = ResidencyRule::FewestUnshards);

} // namespace vime
