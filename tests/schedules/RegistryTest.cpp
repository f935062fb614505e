// The table of orders: names, usual numbers, and the words for numbers that an order cannot take.
#include "schedules/Registry.h"
#include "schedules/Limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

namespace vime {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

const Order &order(std::string_view name) { return *findOrder(name); }

// "number: message; help", or "legal".
std::string verdict(std::string_view name, ScheduleShape shape) {
  const std::optional<OrderProblem> problem = check(order(name), shape);
  return problem ? std::string(problem->number) + ": " + problem->message + "; " + problem->help
                 : "legal";
}

TEST(Registry, Names) {
  const std::vector<std::string_view> known{"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v"};
  EXPECT_THAT(orderNames(), IsSupersetOf(known));
  EXPECT_EQ(findOrder("1f1b")->name, "1f1b");
  EXPECT_EQ(findOrder("1F1B"), nullptr);
  EXPECT_EQ(findOrder(""), nullptr);
}

TEST(Registry, NamesAreDistinctAndSayEverything) {
  for (const Order &order : allOrders()) {
    EXPECT_EQ(findOrder(order.name), &order);
    for (const std::string_view text :
         {order.summary, order.placement, order.needs, order.bubble, order.peak, order.source})
      EXPECT_FALSE(text.empty()) << order.name;
    EXPECT_LE(order.chunks.least, order.chunks.usual) << order.name;
    EXPECT_LE(order.chunks.usual, order.chunks.most) << order.name;
  }
}

TEST(Registry, NearestName) {
  EXPECT_EQ(nearestOrderName("1F1B"), "1f1b");
  EXPECT_EQ(nearestOrderName("1f1"), "1f1b");
  EXPECT_EQ(nearestOrderName("Interleaved1F1B"), "interleaved");
  EXPECT_EQ(nearestOrderName("InterleavedZeroBubble"), "interleaved-zb");
  EXPECT_EQ(nearestOrderName("LoopedBFS"), "looped-bfs");
  EXPECT_EQ(nearestOrderName("DualPipeV"), "dualpipe-v");
  EXPECT_EQ(nearestOrderName("interleave"), "interleaved");
  EXPECT_EQ(nearestOrderName("zbh1"), "zb-h1");
  EXPECT_EQ(nearestOrderName("g-pipe"), "gpipe");
  EXPECT_EQ(nearestOrderName("round-robin"), std::nullopt);
  EXPECT_EQ(nearestOrderName(""), std::nullopt);
  EXPECT_EQ(nearestOrderName(std::string(100000, 'x')), std::nullopt);
}

TEST(Registry, UsualChunks) {
  EXPECT_EQ(shapeFor(order("interleaved"), 4, 8).chunks, 2);
  EXPECT_EQ(shapeFor(order("interleaved"), 4, 8, 4).chunks, 4);
  EXPECT_EQ(shapeFor(order("1f1b"), 4, 8).chunks, 1);
}

TEST(Check, LegalShapes) {
  EXPECT_EQ(verdict("gpipe", {1, 1}), "legal");
  EXPECT_EQ(verdict("1f1b", {8, 2}), "legal"); // fewer microbatches than ranks
  EXPECT_EQ(verdict("interleaved", {4, 10, 2}), "legal");
  EXPECT_EQ(verdict("interleaved", {4, 3, 1}), "legal");
  EXPECT_EQ(verdict("zb-h1", {8, 2}), "legal");
  EXPECT_EQ(verdict("interleaved", {64, 512, 4}), "legal");
}

TEST(Check, UnevenRounds) {
  EXPECT_EQ(verdict("interleaved", {4, 11, 2}),
            "microbatches: `interleaved` cannot run 11 microbatches on 4 ranks: they make 2 "
            "rounds, which would not be "
            "of one size; use 10 or 12 microbatches");
}

TEST(Check, Groups) {
  EXPECT_EQ(verdict("interleaved", {2, 5, 2, /*group=*/3}), "legal");
  EXPECT_EQ(verdict("interleaved", {4, 10, 2, /*group=*/4}),
            "group: `interleaved` cannot run 10 microbatches in groups of 4 on 4 ranks: the last "
            "group would be 2, fewer than the ranks; use no group or a group of 5");
  EXPECT_EQ(verdict("interleaved", {4, 11, 2, /*group=*/8}),
            "group: `interleaved` cannot run 11 microbatches in groups of 8 on 4 ranks: the last "
            "group would be 3, fewer than the ranks; use a group of 7 or 11");
  EXPECT_EQ(verdict("interleaved", {4, 8, 2, /*group=*/9}),
            "group: `interleaved` takes a group of 1 to 8, not 9; use a group of 8");
  EXPECT_EQ(verdict("interleaved", {4, 3, 2, /*group=*/3}),
            "microbatches: `interleaved` cannot group 3 microbatches on 4 ranks: a group has at "
            "least as many as there are ranks; use 4 microbatches and no group or "
            "a group of 4");
  EXPECT_EQ(verdict("grouped", {4, 8, 2, /*group=*/1}),
            "group: `grouped` cannot run groups of 1 on 4 ranks: a group has 2 to 4 microbatches; "
            "use no group or a group of 2");
  EXPECT_EQ(verdict("1f1b", {.ranks = 4, .microbatches = 8, .group = 4}),
            "group: `1f1b` has no use for `group`; use no group");
}

TEST(Check, ChunksOfWaves) {
  EXPECT_EQ(verdict("hanayo", {4, 8, 3}),
            "chunks: `hanayo` cannot run 3 chunks per rank: a wave has two; use 2 or 4 chunks, or "
            "an order that takes 3 chunks: `looped-bfs`, `interleaved`, `grouped`, "
            "`interleaved-zb`");
  EXPECT_EQ(verdict("hanayo", {.ranks = 4, .microbatches = 8, .chunks = 4, .memory = 3}),
            "memory: `hanayo` cannot keep 3 activations: a microbatch alone has 4 on a rank; use "
            "no memory or a memory of 4");
}

TEST(Check, PairsNeedAMicrobatchForEachStage) {
  EXPECT_EQ(verdict("dualpipe-v", {4, 7, 2}),
            "microbatches: `dualpipe-v` cannot run 7 microbatches on 8 stages: it needs at least "
            "one for each stage; use 8 microbatches");
}

TEST(Check, Ranks) {
  EXPECT_EQ(verdict("gpipe", {0, 8}), "ranks: `gpipe` takes 1 to 1024 ranks, not 0; use 1 rank");
  EXPECT_EQ(verdict("1f1b", {2000000, 8}),
            "ranks: `1f1b` takes 1 to 1024 ranks, not 2000000; use 1024 ranks");
}

TEST(Check, Chunks) {
  EXPECT_THAT(verdict("1f1b", {4, 8, 2}),
              AllOf(StartsWith("chunks: `1f1b` takes 1 chunk per rank, not 2; use 1 chunk, or an "
                               "order that takes 2 chunks: "),
                    HasSubstr("`interleaved`")));
  EXPECT_EQ(verdict("interleaved", {4, 8, 0}),
            "chunks: `interleaved` takes 1 to 64 chunks per rank, not 0; use 1 chunk");
}

TEST(Check, Microbatches) {
  EXPECT_EQ(
      verdict("zb-h1", {4, 0}),
      "microbatches: `zb-h1` takes 1 to 1048576 microbatches on 4 stages, not 0; use 1 microbatch");
  EXPECT_EQ(verdict("gpipe", {1024, 65536}), "microbatches: `gpipe` takes 1 to 4096 microbatches "
                                             "on 1024 stages, not 65536; use 4096 microbatches");
}

TEST(Check, SeveralWrongNumbersAreMendedTogether) {
  EXPECT_EQ(verdict("1f1b", {0, -3, 5}),
            "ranks: `1f1b` takes 1 to 1024 ranks, not 0; use 1 rank and 1 chunk and 1 microbatch");
}

TEST(Check, ExtremeNumbers) {
  for (const Order &order : allOrders())
    for (const int number : {INT_MIN, INT_MAX})
      for (const ScheduleShape shape :
           {ScheduleShape{number, 8, 1}, ScheduleShape{4, number, 1}, ScheduleShape{4, 8, number},
            ScheduleShape{number, number, number}}) {
        const std::optional<OrderProblem> problem = check(order, shape);
        ASSERT_TRUE(problem.has_value());
        EXPECT_EQ(check(order, problem->nearest.at(0)), std::nullopt);
      }
}

} // namespace
} // namespace vime
