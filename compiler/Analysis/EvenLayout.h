// EvenLayout: which layers to put into which stage, so that the longest stage is as short as can
// be.
//
//   evenLayout({1, 1, 1, 1, 1, 3}, 3)   // [3, 2, 1]: the head is in the last layer
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vime {

/// Layers of each stage, at least one; empty if there are fewer layers than stages. Of several such
/// the one whose stages are least uneven, earlier ones first to get one more.
std::vector<std::uint32_t> evenLayout(std::span<const double> layers, std::uint32_t stages);

double longestStage(std::span<const double> layers, std::span<const std::uint32_t> layout);

} // namespace vime
