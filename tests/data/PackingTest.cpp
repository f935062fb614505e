// Packing: first fit, and who takes which microbatches.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Data/Packing.h"
#include "runtime/Data/Share.h"

namespace vime {
namespace {

using Lengths = std::vector<std::uint32_t>;
using Microbatches = std::vector<Lengths>; // of each: its samples' lengths

Microbatches packed(const Lengths &lengths, Packing::Room room) {
  Packing packing;
  packing.pack(lengths, room);
  Microbatches found(packing.microbatches());
  for (std::uint32_t microbatch = 0; microbatch < found.size(); ++microbatch) {
    std::uint32_t tokens = 0;
    for (const std::uint32_t place : packing.samplesOf(microbatch)) {
      found[microbatch].push_back(lengths[place]);
      tokens += lengths[place];
    }
    EXPECT_EQ(packing.tokensOf(microbatch), tokens);
  }
  return found;
}

TEST(Packing, EachSampleGoesIntoTheFirstMicrobatchWithRoom) {
  EXPECT_EQ(packed({100, 60, 20, 60}, {128, 4}), (Microbatches{{100, 20}, {60, 60}}));
  EXPECT_EQ(packed({3, 3, 3}, {5, 9}), (Microbatches{{3}, {3}, {3}}));
  EXPECT_EQ(packed({1, 1, 1, 1}, {4, 4}), (Microbatches{{1, 1, 1, 1}}));
  EXPECT_EQ(packed({4, 1, 4, 1, 4}, {4, 2}), (Microbatches{{4}, {1, 1}, {4}, {4}}));
  EXPECT_EQ(packed({}, {4, 2}), Microbatches{});
}

TEST(Packing, EqualLengthsFillMicrobatchesOneBehindTheOther) {
  EXPECT_EQ(packed({8, 8, 8, 8, 8}, {16, 2}), (Microbatches{{8, 8}, {8, 8}, {8}}));
}

/// The rule as it is said.
Microbatches byTheBook(const Lengths &lengths, Packing::Room room) {
  Microbatches found;
  Lengths tokens;
  for (const std::uint32_t length : lengths) {
    std::size_t at = 0;
    while (at < found.size() &&
           (tokens[at] + length > room.tokens || found[at].size() == room.samples))
      ++at;
    if (at == found.size()) {
      found.emplace_back();
      tokens.push_back(0);
    }
    found[at].push_back(length);
    tokens[at] += length;
  }
  return found;
}

TEST(Packing, IsFirstFitForAnyLengths) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto below = [&](std::uint32_t end) { return std::uint32_t(random() % end); };
    const Packing::Room room{1 + below(64), 1 + below(9)};
    Lengths lengths(random() % 70);
    for (std::uint32_t &length : lengths)
      length = 1 + random() % room.tokens;
    EXPECT_EQ(packed(lengths, room), byTheBook(lengths, room)) << "round " << round;
  }
}

TEST(Packing, KeepsNothingOfTheStepBefore) {
  Packing packing;
  packing.pack(Lengths{4, 4, 4, 4, 4}, {4, 1});
  packing.pack(Lengths{1, 2}, {4, 2});
  ASSERT_EQ(packing.microbatches(), 1u);
  EXPECT_EQ(packing.tokensOf(0), 3u);
  EXPECT_THAT(packing.samplesOf(0), testing::ElementsAre(0, 1));
}

TEST(Share, OfAllReplicasIsEachMicrobatchOnceInOrder) {
  for (std::uint32_t replicas = 1; replicas <= 9; ++replicas)
    for (std::uint32_t microbatches = 0; microbatches <= 40; ++microbatches) {
      std::uint32_t next = 0;
      for (std::uint32_t replica = 0; replica < replicas; ++replica) {
        const Share share = shareOf(microbatches, replicas, replica);
        EXPECT_EQ(share.first, next);
        EXPECT_LE(share.count, largestShare(microbatches, replicas));
        EXPECT_GE(share.count + 1, largestShare(microbatches, replicas));
        next += share.count;
      }
      EXPECT_EQ(next, microbatches);
      EXPECT_EQ(shareOf(microbatches, replicas, 0).count, largestShare(microbatches, replicas));
    }
}

} // namespace
} // namespace vime
