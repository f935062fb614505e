// Random: numbers that are the same on every machine, for searches that must be repeatable.
#pragma once

#include <cstdint>

namespace vime {

/// SplitMix64 (Steele et al. 2014).
class Random {
public:
  /// 0 to bound - 1.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  bool oneIn(std::int64_t chances) { return below(chances) == 0; }
  /// -most to most.
  std::int64_t around(std::int64_t most) { return below(2 * most + 1) - most; }

private:
  std::uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state = 0;
};

} // namespace vime
