#include "compiler/Analysis/EvenLayout.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace vime {

std::vector<std::uint32_t> evenLayout(std::span<const double> layers, std::uint32_t stages) {
  const std::size_t count = layers.size();
  if (stages == 0 || count < stages)
    return {};
  std::vector<double> sums(count + 1);
  for (std::size_t layer = 0; layer < count; ++layer)
    sums[layer + 1] = sums[layer] + layers[layer];
  // Of the first layers in so many stages: the longest one, and the sum of squares of all.
  using Length = std::pair<double, double>;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<Length> best(count + 1, {kNever, kNever});
  best[0] = {0, 0};
  std::vector<std::vector<std::uint32_t>> taken(stages, std::vector<std::uint32_t>(count + 1));
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    std::vector<Length> next(count + 1, {kNever, kNever});
    for (std::size_t end = stage + 1; end + (stages - 1 - stage) <= count; ++end)
      for (std::size_t begin = end; begin-- > stage;) {
        const double length = sums[end] - sums[begin];
        const Length here{std::max(best[begin].first, length),
                          best[begin].second + length * length};
        if (here < next[end]) {
          next[end] = here;
          taken[stage][end] = static_cast<std::uint32_t>(end - begin);
        }
        if (length > next[end].first)
          break; // more layers only make it longer
      }
    best = std::move(next);
  }
  std::vector<std::uint32_t> layout(stages);
  std::size_t end = count;
  for (std::uint32_t stage = stages; stage-- > 0;) {
    layout[stage] = taken[stage][end];
    end -= layout[stage];
  }
  return layout;
}

double longestStage(std::span<const double> layers, std::span<const std::uint32_t> layout) {
  double longest = 0;
  std::size_t layer = 0;
  for (const std::uint32_t count : layout) {
    double length = 0;
    for (std::uint32_t place = 0; place < count; ++place)
      length += layers[layer++];
    longest = std::max(longest, length);
  }
  return longest;
}

} // namespace vime
