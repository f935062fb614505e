// Random numbers by counter.
#include "runtime/Engine/Draw.h"

#include <set>

#include <gtest/gtest.h>

namespace vime {
namespace {

// The known answers that the authors publish with Random123.
TEST(Draw, PhiloxGivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~0ull),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draw, EveryPartOfTheKeyMatters) {
  const DrawKey keys[] = {{0, 0, 0, 0},
                          {1, 0, 0, 0},
                          {0, 1, 0, 0},
                          {0, 0, 1, 0},
                          {0, 0, 0, 1},
                          {std::uint64_t(1) << 40, 0, 0, 0},
                          {0, std::uint64_t(1) << 40, 0, 0}};
  std::set<double> found;
  for (const DrawKey &key : keys) {
    found.insert(uniformAt(key));
    EXPECT_GE(uniformAt(key), 0);
    EXPECT_LT(uniformAt(key), 1);
  }
  EXPECT_EQ(found.size(), std::size(keys));
}

// 16 bins of 32,000 draws: with 15 degrees of freedom the statistic is above 37.7 once in a
// thousand.
TEST(Draw, IsUniform) {
  constexpr int kBins = 16, kDraws = 32000;
  int counts[kBins] = {};
  for (std::uint32_t draw = 0; draw < kDraws; ++draw)
    ++counts[int(uniformAt({11, draw / 40, draw % 8, draw % 40 / 8}) * kBins)];
  double statistic = 0;
  for (const int count : counts)
    statistic += (count - kDraws / kBins) * double(count - kDraws / kBins) / (kDraws / kBins);
  EXPECT_LT(statistic, 37.7);
}

} // namespace
} // namespace vime
