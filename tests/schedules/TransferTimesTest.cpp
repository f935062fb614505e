// Transfers among tasks: how early a receive has to stand.
#include "schedules/TransferTimes.h"
#include "schedules/Orders/Orders.h"
#include "schedules/TransferComparison.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

constexpr UnitCosts kShort{.forward = 10, .backwardInput = 10, .backwardWeight = 10, .transfer = 1};

// F = 1, B = 2 and a latency of 0.1, as compiler/docs/execution-model.md has them.
TEST(TransferTimes, TwoSlotsCostOneFOneBNextToNothing) {
  const Schedule small = orders::oneFOneB.build({.ranks = 4, .microbatches = 8});
  EXPECT_EQ(simulate(small, kShort).makespan, 346);
  EXPECT_EQ(timeWithSlots(small, kShort, 2), 348);
  const Schedule large = orders::oneFOneB.build({.ranks = 8, .microbatches = 32});
  EXPECT_EQ(simulate(large, kShort).makespan, 1238);
  EXPECT_EQ(timeWithSlots(large, kShort, 2), 1244);
}

// A receive before its task holds the sender, whose next task somebody waits for.
TEST(TransferTimes, LateReceivesHoldTheirSenders) {
  const Schedule order = orders::oneFOneB.build({.ranks = 4, .microbatches = 8});
  EXPECT_GT(*timeOfLateReceives(order, kShort), 348 * 3 / 2);
}

TEST(TransferTimes, FreeTransfersTakeNoTime) {
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, 4, 8);
    if (const auto problem = check(order, shape))
      shape = problem->nearest.front();
    const Schedule built = order.build(shape);
    EXPECT_EQ(timeWithSlots(built, {}, 64).value_or(0), simulate(built).makespan) << order.name;
  }
}

TEST(TransferTimes, MoreSlotsNeverCostMore) {
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, 4, 8);
    if (const auto problem = check(order, shape))
      shape = problem->nearest.front();
    const Schedule built = order.build(shape);
    std::optional<std::int64_t> before;
    for (int slots = 1; slots <= 6; ++slots) {
      const auto time = timeWithSlots(built, kShort, slots);
      EXPECT_GE(time.has_value(), before.has_value()) << order.name;
      EXPECT_GE(time.value_or(simulate(built, kShort).makespan), simulate(built, kShort).makespan);
      before = time;
    }
  }
}

// Microbatch 1 is needed first, and stands behind microbatch 0 in the one slot there is.
TEST(TransferTimes, OneSlotCannotTurnMessagesRound) {
  const Schedule order = parsed("0F0,0F1,0B0,0B1\n1F1,1B1,1F0,1B0\n");
  EXPECT_EQ(timeWithSlots(order, kShort, 1), std::nullopt);
  EXPECT_TRUE(timeWithSlots(order, kShort, 2));
  EXPECT_EQ(timeWithSlots(parsed("0F0,0B0\n1B0,1F0\n"), kShort, 2), std::nullopt); // never finishes
}

TEST(TransferTimes, ChannelsGoFromRankToRankEachWay) {
  const auto channels = [](const Order &order, int ranks) {
    return mostReceivingChannels(order.build(shapeFor(order, ranks, 8)));
  };
  EXPECT_EQ(channels(orders::oneFOneB, 1), 0);
  EXPECT_EQ(channels(orders::oneFOneB, 2), 1);
  EXPECT_EQ(channels(orders::oneFOneB, 4), 2);
  EXPECT_EQ(channels(orders::zeroBubbleV, 4), 4); // both chunks, both ways
}

TEST(TransferComparison, IsInTheUnitOfAWholeShare) {
  const auto all = compareTransfers({.ranks = 4, .microbatches = 8, .costs = kShort, .chunks = {}});
  ASSERT_GE(all.size(), 5U);
  for (const ComparedTransfers &entry : all) {
    EXPECT_GE(entry.withSlots[1].value_or(entry.dataflow), entry.dataflow) << entry.order->name;
    EXPECT_GE(entry.enough, 1) << entry.order->name;
    if (entry.order->name == "1f1b") {
      EXPECT_EQ(entry.dataflow, 346);
      EXPECT_EQ(entry.withSlots[1], 348);
    }
  }
}

} // namespace
} // namespace vime
