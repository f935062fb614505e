// Intervals: an arena cut wherever somebody's use of it began or ended, with a state for each part.
//
//   Intervals<Piece> arena(bytes);
//   arena.forEach(begin, end, [](std::uint64_t at, Piece &piece) { … });   // parts from begin to
//   end
//
// A state says by `startingAt(distance)` what it is of a part that begins so many bytes later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vime::interpreter {

template <typename State> class Intervals {
public:
  explicit Intervals(std::uint64_t bytes) : bytes(bytes) {
    if (bytes != 0)
      parts.push_back({0, State()});
  }

  /// Nothing beyond the arena is visited.
  template <typename Visit> void forEach(std::uint64_t begin, std::uint64_t end, Visit &&visit) {
    end = std::min(end, bytes);
    if (begin >= end)
      return;
    cut(end);
    for (std::size_t index = cut(begin); index < parts.size() && parts[index].begin < end; ++index)
      visit(parts[index].begin, parts[index].state);
  }

private:
  struct Part {
    std::uint64_t begin;
    State state;
  };

  /// The part that begins there.
  std::size_t cut(std::uint64_t at) {
    const auto behind = std::upper_bound(
        parts.begin(), parts.end(), at,
        [](std::uint64_t wanted, const Part &part) { return wanted < part.begin; });
    const auto index = static_cast<std::size_t>(behind - parts.begin());
    const Part &around = parts[index - 1];
    if (around.begin == at)
      return index - 1;
    if (at < bytes)
      parts.insert(behind, {at, around.state.startingAt(at - around.begin)});
    return index;
  }

  std::uint64_t bytes;
  std::vector<Part> parts;
};

} // namespace vime::interpreter
