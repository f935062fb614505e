// Orders as text.
#include "schedules/Notation.h"
#include "schedules/OrderJson.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Registry.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

std::string timeline(const Schedule &order) { return "\n" + toTimeline(order); }

TEST(Timeline, OneFOneB) {
  EXPECT_EQ(timeline(orders::oneFOneB.build({.ranks = 4, .microbatches = 4})), R"(
rank 0  F0 F1 F2 F3 .  .  .  .  .  .  B0--- .  B1--- .  B2--- .  B3---
rank 1  .  F0 F1 F2 .  .  .  .  B0--- F3 B1--- .  B2--- .  B3--- .  .
rank 2  .  .  F0 F1 .  .  B0--- F2 B1--- F3 B2--- .  B3--- .  .  .  .
rank 3  .  .  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- .  .  .  .  .  .
)");
}

TEST(Timeline, ZeroBubbleH1) {
  EXPECT_EQ(timeline(orders::zeroBubbleH1.build({.ranks = 3, .microbatches = 4})), R"(
rank 0  F0 F1 F2 .  .  I0 W0 F3 I1 W1 I2 W2 I3 W3
rank 1  .  F0 F1 .  I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
rank 2  .  .  F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
)");
}

TEST(Timeline, NamesStagesWhereARankHasSeveral) {
  EXPECT_EQ(timeline(orders::interleaved.build({.ranks = 2, .microbatches = 2, .chunks = 2})), R"(
rank 0  0F0 0F1 2F0 2F1 .   .   2B0---- .   2B1---- 0B0---- 0B1----
rank 1  .   1F0 1F1 3F0 3B0---- 3F1 3B1---- 1B0---- 1B1---- .   .
)");
}

TEST(Timeline, SaysWhereAnOrderIsStuck) {
  const Schedule order = parsed("0F0,0B0\n1B0,1F0\n");
  EXPECT_EQ(timeline(order), R"(
rank 0  F0
rank 1  .
stuck: rank 0 stops at 0B0: it waits for 1B0, which stands behind 1B0 on rank 1
)");
}

TEST(Timeline, DrawsThePartsOfAPairOneBehindTheOther) {
  EXPECT_EQ(timeline(parsed("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n")), R"(
rank 0  F0 F1 B0--- B1---
)");
}

TEST(Grid, AlignsColumns) {
  const Schedule order = parsed("0F10,,0B10\n1F1,1B1\n");
  EXPECT_EQ(toGrid(order), "0F10 .    0B10\n1F1  1B1\n");
}

TEST(Json, IsCompleteAndFixed) {
  const Order &order = *findOrder("gpipe");
  const ScheduleShape shape{.ranks = 2, .microbatches = 1};
  EXPECT_EQ("\n" + toJson(order, shape, order.build(shape)), R"json(
{
  "name": "gpipe",
  "ranks": 2,
  "microbatches": 1,
  "chunks": 1,
  "placement": [0, 1],
  "rows": [
    ["0F0", null, null, null, "0B0"],
    [null, "1F0", "1B0"]
  ],
  "unit_time": {"costs": [1, 1, 1, 0], "makespan": 6, "span": [6, 3], "busy": [3, 3], "bubble": 0.500000, "peak_live": [1, 1]},
  "bubble": "(p-1)(F+B)",
  "peak": "m microbatches",
  "source": "Huang et al. 2019"
}
)json");
}

TEST(Json, TimesAreOnTheClockOfTheCosts) {
  const Order &order = orders::oneFOneB;
  const ScheduleShape shape{.ranks = 2, .microbatches = 1};
  const UnitCosts costs{.forward = 10, .backwardInput = 12, .backwardWeight = 8, .transfer = 1};
  EXPECT_NE(toJson(order, shape, order.build(shape), costs)
                .find(R"({"costs": [10, 12, 8, 1], "makespan": 62, "span": [62, 30], )"),
            std::string::npos);
}

TEST(Timeline, TasksAreAsWideAsTheyCost) {
  const Schedule order = orders::oneFOneB.build({.ranks = 2, .microbatches = 1});
  EXPECT_EQ("\n" + toTimeline(order, {1, 1, 1, 1}), R"(
rank 0  F0 .  .  .  .  .  B0---
rank 1  .  .  F0 B0--- .  .  .
)");
  EXPECT_EQ(toTimeline(order, {10, 10, 10, 10}), toTimeline(order, {1, 1, 1, 1}));
  EXPECT_EQ(
      "\n" + toTimeline(orders::zeroBubbleH1.build({.ranks = 2, .microbatches = 2}), {10, 12, 8}),
      R"(
rank 0  F0 F1- .  . I0- W0 .I1- W1
rank 1  .  F0- I0-- F1 I1-- W0 W1 .
)");
}

} // namespace
} // namespace vime
