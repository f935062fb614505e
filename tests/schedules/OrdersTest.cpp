// The orders as pictures: small enough to follow with a finger.
#include "schedules/Orders/Orders.h"
#include "schedules/Notation.h"
#include "schedules/Placement.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

// Raw strings start on their own line.
std::string grid(const Schedule &order) { return "\n" + toGrid(order); }

TEST(GPipe, FourRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::gpipe.build({.ranks = 4, .microbatches = 4})), R"(
0F0 0F1 0F2 0F3 .   .   .   .   .   .   .   .   .   0B0 0B1 0B2 0B3
.   1F0 1F1 1F2 1F3 .   .   .   .   .   .   1B0 1B1 1B2 1B3
.   .   2F0 2F1 2F2 2F3 .   .   .   2B0 2B1 2B2 2B3
.   .   .   3F0 3F1 3F2 3F3 3B0 3B1 3B2 3B3
)");
}

TEST(GPipe, OneRankOneMicrobatch) {
  EXPECT_EQ(toGrid(orders::gpipe.build({.ranks = 1, .microbatches = 1})), "0F0 0B0\n");
}

TEST(ForwardOnly, TwoRanksThreeMicrobatches) {
  EXPECT_EQ(grid(orders::forwardOnly.build({.ranks = 2, .microbatches = 3})), R"(
0F0 0F1 0F2
.   1F0 1F1 1F2
)");
}

TEST(ForwardOnly, TwoChunksTakeARoundInTurn) {
  EXPECT_EQ(grid(orders::forwardOnly.build({.ranks = 2, .microbatches = 3, .chunks = 2})), R"(
0F0 0F1 2F0 2F1 0F2 2F2
.   1F0 1F1 3F0 3F1 1F2 3F2
)");
}

TEST(LoopedBfs, TwoRanksTwoMicrobatchesTwoChunks) {
  EXPECT_EQ(grid(orders::loopedBfs.build({.ranks = 2, .microbatches = 2, .chunks = 2})), R"(
0F0 0F1 2F0 2F1 .   .   2B1 2B0 0B1 0B0
.   1F0 1F1 3F0 3F1 3B1 3B0 1B1 1B0
)");
}

TEST(OneFOneB, FourRanksFiveMicrobatches) {
  EXPECT_EQ(grid(orders::oneFOneB.build({.ranks = 4, .microbatches = 5})), R"(
0F0 0F1 0F2 0F3 0B0 0F4 0B1 0B2 0B3 0B4
1F0 1F1 1F2 1B0 1F3 1B1 1F4 1B2 1B3 1B4
2F0 2F1 2B0 2F2 2B1 2F3 2B2 2F4 2B3 2B4
3F0 3B0 3F1 3B1 3F2 3B2 3F3 3B3 3F4 3B4
)");
}

// Fewer microbatches than ranks: the first ranks never alternate.
TEST(OneFOneB, FourRanksTwoMicrobatches) {
  EXPECT_EQ(grid(orders::oneFOneB.build({.ranks = 4, .microbatches = 2})), R"(
0F0 0F1 0B0 0B1
1F0 1F1 1B0 1B1
2F0 2F1 2B0 2B1
3F0 3B0 3F1 3B1
)");
}

TEST(Interleaved, TwoRanksFourMicrobatchesTwoChunks) {
  EXPECT_EQ(grid(orders::interleaved.build({.ranks = 2, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 2F0 2F1 .   .   0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 .   2B2 .   2B3 .   0B2 .   0B3
.   1F0 1F1 .   3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 .   1B2 .   1B3
)");
}

// Ten microbatches on four ranks make two rounds of five: the last rank of the reference's worked
// example.
TEST(Interleaved, RoundsLargerThanRanks) {
  Schedule order = orders::interleaved.build({.ranks = 4, .microbatches = 10, .chunks = 2});
  order.rows.erase(order.rows.begin(), order.rows.begin() + 3);
  EXPECT_EQ(
      toCsv(order),
      ",,,3F0,3F1,3F2,3F3,3F4,7F0,7B0,7F1,7B1,7F2,7B2,7F3,7B3,7F4,7B4,3F5,3B0,3F6,3B1,3F7,3B2,"
      "3F8,3B3,3F9,3B4,7F5,7B5,7F6,7B6,7F7,7B7,7F8,7B8,7F9,7B9,,3B5,,3B6,,3B7,,3B8,,3B9\r\n");
}

// One chunk is legal but not 1F1B: the warm-up is longer.
TEST(Interleaved, OneChunk) {
  EXPECT_EQ(grid(orders::interleaved.build({.ranks = 2, .microbatches = 4, .chunks = 1})), R"(
0F0 0F1 .   .   0F2 0B0 0F3 0B1 .   0B2 .   0B3
.   1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3
)");
}

// Rank 1 has a forward to spare before each backward, rank 0 two.
TEST(EagerOneFOneB, ThreeRanksSixMicrobatches) {
  EXPECT_EQ(grid(orders::eagerOneFOneB.build({.ranks = 3, .microbatches = 6})), R"(
0F0 0F1 0F2 0F3 0F4 0B0 0F5 0B1 0B2 0B3 0B4 0B5
1F0 1F1 1F2 1B0 1F3 1B1 1F4 1B2 1F5 1B3 1B4 1B5
2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3 2F4 2B4 2F5 2B5
)");
}

TEST(EagerOneFOneB, BackwardsArePairedWithTheForwardsBehindThem) {
  EXPECT_EQ(grid(orders::eagerOneFOneB.build({.ranks = 3, .microbatches = 6, .overlap = true})), R"(
0F0     0F1     0F2     0F3     0F4     0F5&0B0 0B1     0B2     0B3     0B4     0B5
1F0     1F1     1F2     1F3&1B0 1F4&1B1 1F5&1B2 1B3     1B4     1B5
2F0     2F1&2B0 2F2&2B1 2F3&2B2 2F4&2B3 2F5&2B4 2B5
)");
}

// Megatron's worked table: groups of three and two through both chunks.
TEST(Interleaved, GroupsWithARemainder) {
  EXPECT_EQ(
      grid(orders::interleaved.build({.ranks = 2, .microbatches = 5, .chunks = 2, .group = 3})), R"(
0F0 0F1 0F2 2F0 2F1 2F2 2B0 0F3 2B1 0F4 2B2 2F3 0B0 2F4 0B1 0B2 2B3 2B4 0B3 0B4
1F0 1F1 1F2 3F0 3B0 3F1 3B1 3F2 3B2 1F3 1B0 1F4 1B1 3F3 1B2 3F4 3B3 3B4 1B3 1B4
)");
}

// One more forward of warm-up: without it 3F0 would be paired with 3B0.
TEST(Interleaved, PairsAfterOneMoreForward) {
  EXPECT_EQ(grid(orders::interleaved.build(
                {.ranks = 2, .microbatches = 4, .chunks = 2, .group = 2, .overlap = true})),
            R"(
0F0     0F1     2F0     2F1     0F2     0F3&2B0 2F2&2B1 2F3&0B0 0B1     2B2     2B3     0B2     0B3
1F0     1F1     3F0     3F1&3B0 1F2&3B1 1F3&1B0 3F2&1B1 3F3&3B2 3B3     1B2     1B3
)");
}

TEST(Grouped, FourRanksFourMicrobatchesInGroupsOfTwo) {
  EXPECT_EQ(grid(orders::grouped.build({.ranks = 4, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 4F0 4F1 0F2 0F3 4I0 4W0 4F2 4I1 4W1 4F3 0I0 0W0 0I1 0W1 4I2 4W2 4I3 4W3 0I2 0W2 0I3 0W3
1F0 1F1 5F0 5F1 1F2 5I0 5W0 1F3 5I1 5W1 5F2 1I0 1W0 5F3 1I1 1W1 5I2 5W2 5I3 5W3 1I2 1W2 1I3 1W3
2F0 2F1 6F0 6F1 6I0 6W0 2F2 6I1 6W1 2F3 2I0 2W0 6F2 2I1 2W1 6F3 6I2 6W2 6I3 6W3 2I2 2W2 2I3 2W3
3F0 3F1 7F0 7I0 7W0 7F1 7I1 7W1 3F2 3I0 3W0 3F3 3I1 3W1 7F2 7I2 7W2 7F3 7I3 7W3 3I2 3W2 3I3 3W3
)");
}

// Groups of two; the second has one microbatch.
TEST(Grouped, AnIncompleteGroupLeavesItsSlotsOut) {
  EXPECT_EQ(grid(orders::grouped.build({.ranks = 3, .microbatches = 3, .chunks = 2})), R"(
0F0 0F1 3F0 3F1 0F2 3I0 3W0 3I1 3W1 3F2 0I0 0W0 0I1 0W1 3I2 3W2 0I2 0W2
1F0 1F1 4F0 4F1 4I0 4W0 1F2 4I1 4W1 1I0 1W0 4F2 1I1 1W1 4I2 4W2 1I2 1W2
2F0 2F1 5F0 5I0 5W0 5F1 5I1 5W1 2F2 2I0 2W0 2I1 2W1 5F2 5I2 5W2 2I2 2W2
)");
}

TEST(OneFOneBV, FourRanksFiveMicrobatches) {
  EXPECT_EQ(grid(orders::oneFOneBV.build({.ranks = 4, .microbatches = 5, .chunks = 2})), R"(
0F0 0F1 0F2 0F3 0F4 7F0 7B0 7F1 7B1 7F2 7B2 7F3 7B3 0B0 7F4 7B4 0B1 0B2 0B3 0B4
1F0 1F1 1F2 1F3 6F0 6F1 6B0 6F2 6B1 1F4 6B2 6F3 1B0 6B3 6F4 1B1 6B4 1B2 1B3 1B4
2F0 2F1 2F2 5F0 5F1 5F2 5B0 2F3 5B1 2F4 2B0 5F3 5B2 2B1 5F4 5B3 2B2 5B4 2B3 2B4
3F0 4F0 3F1 4F1 3F2 4F2 4B0 3B0 3F3 4F3 4B1 3B1 3F4 4F4 4B2 3B2 4B3 3B3 4B4 3B4
)");
}

TEST(Hanayo, FourRanksFourMicrobatchesOneWave) {
  EXPECT_EQ(grid(orders::hanayo.build({.ranks = 4, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 0F2 0F3 7F0 7B0 7F1 7B1 7F2 7B2 7F3 7B3 0B0 0B1 0B2 0B3
1F0 1F1 1F2 1F3 6F0 6F1 6B0 6F2 6B1 6F3 6B2 6B3 1B0 1B1 1B2 1B3
2F0 2F1 2F2 5F0 2F3 5F1 5F2 5F3 5B0 5B1 2B0 5B2 2B1 5B3 2B2 2B3
3F0 4F0 3F1 4F1 3F2 4F2 3F3 4F3 4B0 3B0 4B1 3B1 4B2 3B2 4B3 3B3
)");
}

TEST(Hanayo, TwoWaves) {
  EXPECT_EQ(grid(orders::hanayo.build({.ranks = 2, .microbatches = 2, .chunks = 4})), R"(
0F0 0F1 3F0 4F0 3F1 4F1 7F0 7B0 7F1 7B1 4B0 3B0 4B1 3B1 0B0 0B1
1F0 2F0 1F1 2F1 5F0 6F0 5F1 6F1 6B0 5B0 6B1 5B1 2B0 1B0 2B1 1B1
)");
}

// Three activations on a rank: the second microbatch enters, the third waits.
TEST(Hanayo, KeepsToTheMemoryGiven) {
  EXPECT_EQ(grid(orders::hanayo.build({.ranks = 2, .microbatches = 3, .chunks = 2, .memory = 3})),
            R"(
0F0 0F1 3F0 3B0 0B0 3F1 3B1 0F2 0B1 3F2 3B2 0B2
1F0 2F0 2B0 1B0 1F1 2F1 2B1 1B1 1F2 2F2 2B2 1B2
)");
}

TEST(ZeroBubbleH1, FourRanksFiveMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubbleH1.build({.ranks = 4, .microbatches = 5})), R"(
0F0 0F1 0F2 0F3 0I0 0W0 0F4 0I1 0W1 0I2 0W2 0I3 0W3 0I4 0W4
1F0 1F1 1F2 1I0 1F3 1I1 1W0 1F4 1I2 1W1 1I3 1W2 1I4 1W3 1W4
2F0 2F1 2I0 2F2 2I1 2F3 2I2 2W0 2F4 2I3 2W1 2I4 2W2 2W3 2W4
3F0 3I0 3F1 3I1 3F2 3I2 3F3 3I3 3W0 3F4 3I4 3W1 3W2 3W3 3W4
)");
}

// Fewer microbatches than ranks: the input gradients still hurry upstream, the weight gradients
// wait for the end.
TEST(ZeroBubbleH1, FourRanksTwoMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubbleH1.build({.ranks = 4, .microbatches = 2})), R"(
0F0 0F1 0I0 0W0 0I1 0W1
1F0 1F1 1I0 1I1 1W0 1W1
2F0 2F1 2I0 2I1 2W0 2W1
3F0 3I0 3F1 3I1 3W0 3W1
)");
}

TEST(ZeroBubbleH2, ThreeRanksSixMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubbleH2.build({.ranks = 3, .microbatches = 6})), R"(
0F0 0F1 0F2 0F3 0F4 0I0 0W0 0F5 0I1 0W1 0I2 0W2 0I3 0W3 0I4 0W4 0I5 0W5
1F0 1F1 1F2 1I0 1F3 1I1 1F4 1I2 1W0 1F5 1I3 1W1 1I4 1W2 1I5 1W3 1W4 1W5
2F0 2I0 2F1 2I1 2F2 2I2 2F3 2I3 2F4 2I4 2W0 2F5 2I5 2W1 2W2 2W3 2W4 2W5
)");
}

TEST(InterleavedZeroBubble, TwoRanksFourMicrobatchesTwoChunks) {
  EXPECT_EQ(grid(orders::interleavedZeroBubble.build({.ranks = 2, .microbatches = 4, .chunks = 2})),
            R"(
0F0 0F1 2F0 .   2F1 2I0 2W0 0F2 2I1 2W1 0F3 0I0 0W0 2F2 0I1 0W1 2F3 2I2 2W2 2I3 2W3 0I2 0W2 0I3 0W3
.   1F0 1F1 3F0 3I0 3F1 3I1 3W0 1F2 1I0 3W1 1F3 1I1 1W0 3F2 3I2 1W1 3F3 3I3 3W2 1I2 3W3 1I3 1W2 1W3
)");
}

// Stages 0 and 3 on rank 0, stages 1 and 2 at the turn: the loss is where the tokens are.
TEST(ZeroBubbleV, TwoRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubbleV.build({.ranks = 2, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0F3 0I0 0W0 3F2 3I2 3W2 0I1 0W1 3F3 3I3 3W3 0I2 0W2 0I3 0W3
.   1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1F3 1I1 1W1 2F3 2I2 2W2 1I2 2I3 1I3 1W2 2W3 1W3
)");
}

// Three microbatches fill two ranks; with two the slots of the third stay free.
TEST(ZeroBubbleV, TwoRanksTwoMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubbleV.build({.ranks = 2, .microbatches = 2, .chunks = 2})), R"(
0F0 0F1 .   3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 .   .   .   0I1 0W1 .   .
.   1F0 2F0 1F1 2F1 2I0 2W0 .   1I0 1W0 .   2I1 2W1 1I1 .   .   1W1 .   .
)");
}

// No rank holds more than four activations, where zb-v keeps six.
TEST(VHalf, ThreeRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::vHalf.build({.ranks = 3, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 0F2 5F0 5I0 5W0 5F1 5I1 5W1 0I0 0W0 0F3 5F2 5I2 5W2 0I1 0W1 5F3 5I3 0I2 5W3 0W2 0I3 0W3
1F0 1F1 4F0 4F1 4I0 4W0 1F2 1I0 4I1 4W1 4F2 1W0 1F3 1I1 4I2 4W2 4F3 1W1 1I2 4I3 4W3 1W2 1I3 1W3
2F0 3F0 2F1 3F1 3I0 3W0 2I0 2W0 2F2 3F2 3I1 2I1 3W1 2F3 2W1 3F3 3I2 2I2 3W2 2W2 3I3 2I3 3W3 2W3
)");
}

// A microbatch turns back as soon as it is up: rank 0 never holds more than three stages of them.
TEST(VMin, TwoRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::vMin.build({.ranks = 2, .microbatches = 4, .chunks = 2})), R"(
0F0 0F1 3F0 3I0 3W0 0I0 0W0 3F1 3I1 3W1 0F2 0I1 0W1 3F2 3I2 3W2 0F3 0I2 0W2 3F3 3I3 3W3 0I3 0W3
1F0 2F0 2I0 1I0 1F1 2F1 2W0 1W0 2I1 1I1 1F2 2F2 2W1 1W1 2I2 1I2 1F3 2F3 2W2 1W2 2I3 1I3 2W3 1W3
)");
}

// A weight gradient is cheap here: rank 1 does its last two in the end, rank 2 its last three.
TEST(ZeroBubble1P, ThreeRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubble1P.build(
                {.ranks = 3, .microbatches = 4, .costs = {2, 3, 1, /*transfer=*/0}})),
            R"(
0F0 0F1 0F2 0I0 0W0 0F3 0I1 0W1 0I2 0W2 0I3 0W3
1F0 1F1 1I0 1F2 1I1 1W0 1F3 1I2 1W1 1I3 1W2 1W3
2F0 2I0 2F1 2I1 2F2 2I2 2W0 2F3 2I3 2W1 2W2 2W3
)");
}

// Rank 0 runs one more forward ahead than under zb-h1, so that no rank waits once it has begun.
TEST(ZeroBubble2P, TwoRanksFourMicrobatches) {
  EXPECT_EQ(grid(orders::zeroBubble2P.build({.ranks = 2, .microbatches = 4})), R"(
0F0 0F1 0F2 0I0 0W0 0F3 0I1 0W1 0I2 0W2 0I3 0W3
1F0 1I0 1F1 1I1 1F2 1I2 1W0 1F3 1I3 1W1 1W2 1W3
)");
}

// Three activations, where v-min needs four: 27 slots, and none of 26 is possible.
TEST(VAuto, TwoRanksFourMicrobatchesThreeActivations) {
  EXPECT_EQ(grid(orders::vAuto.build({.ranks = 2, .microbatches = 4, .chunks = 2, .memory = 3})),
            R"(
0F0 0F1 3F0 3I0 3W0 0F2 0I0 0W0 3F1 3I1 3W1 0F3 0I1 0W1 3F2 3I2 3W2 3F3 3I3 3W3 0I2 0W2 0I3 0W3
1F0 2F0 1F1 2I0 1I0 1W0 2F1 2W0 1F2 2I1 1I1 1W1 2F2 2W1 1F3 2I2 2W2 2F3 1I2 1W2 2I3 2W3 1I3 1W3
)");
}

// The last rank, where the V turns, has nothing to pair with its first whole backward.
TEST(DualPipeV, TwoRanksFiveMicrobatches) {
  EXPECT_EQ(grid(orders::dualPipeV.build({.ranks = 2, .microbatches = 5, .chunks = 2})), R"(
0F0     0F1     0F2     3F0     3I0     3W0     3F1     0F3&3B1 3F2&0B0 0F4&3B2 3F3&0B1 3B3     3F4&0B2 3B4     0I3     0W3     0I4     0W4
1F0     2F0     1F1     2F1     1F2     2B0     2F2&1B0 1F3&2B1 2F3&1B1 1F4&2B2 2F4&1B2 2B3     1B3     2I4     1I4     2W4     1W4
)");
}

// Stages 0 to 3 go up the ranks with the even microbatches, their copies 4 to 7 down with the odd.
TEST(Chimera, FourRanksFourMicrobatches) {
  const Schedule order = orders::chimera.build({.ranks = 4, .microbatches = 4});
  EXPECT_EQ(grid(order), R"(
0F0 0F2 7F1 7B1 7F3 7B3 0B0 0B2
1F0 6F1 1F2 6F3 6B1 1B0 6B3 1B2
5F1 2F0 5F3 2F2 2B0 5B1 2B2 5B3
4F1 4F3 3F0 3B0 3F2 3B2 4B1 4B3
)");
  EXPECT_EQ("\n" + toTimeline(order), R"(
rank 0  F0 F2 .  F1 B1--- F3 B3--- .  B0--- .  .  B2---
rank 1  .  F0 F1 F2 F3 .  B1--- B0--- B3--- B2--- .  .
rank 2  .  F1 F0 F3 F2 .  B0--- B1--- B2--- B3--- .  .
rank 3  F1 F3 .  F0 B0--- F2 B2--- .  B1--- .  .  B3---
)");
}

// One unit of two microbatches behind the other.
TEST(Chimera, TwoRanksSixMicrobatches) {
  EXPECT_EQ(grid(orders::chimera.build({.ranks = 2, .microbatches = 6})), R"(
0F0 3F1 3B1 0B0 0F2 3F3 3B3 0B2 0F4 3F5 3B5 0B4
2F1 1F0 1B0 2B1 2F3 1F2 1B2 2B3 2F5 1F4 1B4 2B5
)");
}

// Pairs of a forward one way and a backward the other.
TEST(DualPipe, TwoRanksSixMicrobatches) {
  EXPECT_EQ(grid(orders::dualPipe.build({.ranks = 2, .microbatches = 6})), R"(
0F0     3F1     0F2     3B1     3F3&0B0 0F4&3B3 3F5&0B2 3B5     0I4     0W4
2F1     1F0     2F3     1B0     1F2&2B1 2F5&1B2 1F4&2B3 1B4     2I5     2W5
)");
}

// Slices 2 and 3 are those of microbatch 1; the last slice comes back first.
TEST(SeqOneFOneB, TwoRanksTwoMicrobatchesOfTwoSlices) {
  const Schedule order = orders::seqOneFOneB.build({.ranks = 2, .microbatches = 2, .slices = 2});
  EXPECT_EQ(grid(order), R"(
0F0 0F1 0F2 0B1 0F3 0B0 0B3 0B2
1F0 1F1 1B1 1F2 1B0 1F3 1B3 1B2
)");
  EXPECT_EQ("\n" + toTimeline(order), R"(
rank 0  F0.0 F0.1 F1.0 .    .    B0.1----- F1.1 B0.0----- .    B1.1----- B1.0-----
rank 1  .    F0.0 F0.1 B0.1----- F1.0 B0.0----- F1.1 B1.1----- B1.0----- .    .
)");
}

TEST(Placement, TheSecondCopyGoesTheOppositeWay) {
  const Schedule order = orders::chimera.build({.ranks = 4, .microbatches = 2});
  EXPECT_EQ(order.placement, (Placement{0, 1, 2, 3, 3, 2, 1, 0}));
  EXPECT_EQ(depthOf(order), 4);
  EXPECT_EQ(copyOf(order, 5), 1);
  const auto moved = movedTo(order, {1, 3, 0, 2});
  EXPECT_EQ(std::get<Schedule>(moved).placement, (Placement{1, 3, 0, 2, 2, 0, 3, 1}));
  EXPECT_EQ(std::get<Schedule>(moved).copies, 2);
  EXPECT_EQ(std::get<std::string>(movedTo(order, {0, 1, 3, 2})),
            "stages 3 and 4 share a rank in this schedule, not in the placement");
}

TEST(Placement, VeeTurnsAtTheLastRankAndAtTheFirst) {
  EXPECT_EQ(veePlacement({.ranks = 4, .microbatches = 1, .chunks = 3}),
            (Placement{0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3}));
}

std::string moved(const Schedule &order, const Placement &placement) {
  const auto result = movedTo(order, placement);
  const auto *why = std::get_if<std::string>(&result);
  return why ? *why : toGrid(std::get<Schedule>(result));
}

TEST(Placement, RanksOfAnOrderCanBeRenamed) {
  const Schedule order = orders::oneFOneB.build({.ranks = 3, .microbatches = 1});
  EXPECT_EQ(moved(order, {2, 0, 1}), "1F0 1B0\n2F0 2B0\n0F0 0B0\n");
  EXPECT_EQ(moved(order, order.placement), toGrid(order));
}

TEST(Placement, StagesOfARankStayTogetherAndApartFromOthers) {
  const Schedule order = orders::interleaved.build({.ranks = 2, .microbatches = 2, .chunks = 2});
  EXPECT_EQ(moved(order, {0, 1, 1, 0}),
            "stages 0 and 2 share a rank in this schedule, not in the placement");
  EXPECT_EQ(moved(order, {1, 1, 1, 1}),
            "stages 0 and 1 share a rank in the placement, not in this schedule");
  EXPECT_EQ(moved(order, {0, 2, 0, 2}), "stage 1 cannot be on rank 2: there are 2 ranks");
}

} // namespace
} // namespace vime
