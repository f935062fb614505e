// Permutation: a shuffled order of 0 … count-1 that can be asked at any place, without a table.
//
//   Permutation order(1'000'000, /*seed=*/7, /*epoch=*/0);
//   order(0)  // where the shuffled order begins
//
// A balanced Feistel network over the next power of four, walked along its cycle until it falls
// below `count` (Black and Rogaway 2002): a bijection whatever its round function is.
#pragma once

#include <cstdint>

namespace vime {

class Permutation {
public:
  Permutation(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch);
  /// index < count.
  std::uint64_t operator()(std::uint64_t index) const;

private:
  static constexpr int kRounds = 6;
  std::uint64_t feistel(std::uint64_t value) const;

  std::uint64_t count;
  int halfBits;
  std::uint64_t keys[kRounds];
};

} // namespace vime
