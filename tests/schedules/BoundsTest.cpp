// Lower bounds: closed forms, what orders and peers reach, and that nothing undercuts them.
#include "schedules/Bounds.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Period.h"
#include "schedules/Registry.h"
#include "schedules/UnitTime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vime {
namespace {

constexpr UnitCosts kUneven{.forward = 10, .backwardInput = 12, .backwardWeight = 8};
constexpr UnitCosts kFar{.forward = 10, .backwardInput = 12, .backwardWeight = 8, .transfer = 3};

BoundedShape linear(int ranks, int microbatches, int memory, UnitCosts costs = {}) {
  return {.placement = linearPlacement({.ranks = ranks, .microbatches = microbatches}),
          .ranks = ranks,
          .microbatches = microbatches,
          .memory = memory,
          .costs = costs};
}

BoundedShape vee(int ranks, int microbatches, int memory, UnitCosts costs = {}) {
  BoundedShape shape = linear(ranks, microbatches, memory, costs);
  shape.placement = veePlacement({.ranks = ranks, .microbatches = microbatches, .chunks = 2});
  return shape;
}

BoundedShape loop(int ranks, int microbatches, int chunks, int memory) {
  BoundedShape shape = linear(ranks, microbatches, memory);
  shape.placement = loopPlacement({.ranks = ranks, .microbatches = microbatches, .chunks = chunks});
  return shape;
}

// Two copies of the model, one down the ranks and one up, with half of the microbatches each.
BoundedShape bothWays(int ranks, int microbatches, int memory) {
  BoundedShape shape = linear(ranks, microbatches / 2, memory);
  for (int rank = ranks - 1; rank >= 0; --rank)
    shape.placement.push_back(rank);
  shape.copies = 2;
  return shape;
}

std::string text(const Bound &bound) {
  return std::to_string(bound.least) + " " + std::string(bound.label);
}

// The last rank begins after p - 1 forwards; with memory for all nothing else binds.
TEST(Bounds, Start) {
  EXPECT_EQ(text(boundsOf(linear(4, 8, 0)).makespan), "27 L1");
  EXPECT_EQ(text(boundsOf(linear(4, 8, 0)).span), "24 L1");
  EXPECT_EQ(text(boundsOf(linear(1, 8, 0)).makespan), "24 L1");
}

// (p-1)(F+I+2c) - (k-1)F on the first rank.
TEST(Bounds, WarmUpUnderAMemory) {
  for (int memory = 8; memory <= 15; ++memory)
    EXPECT_EQ(boundsOf(linear(8, 32, memory)).span.least, 96 + 7 * 2 - (memory - 1)) << memory;
  EXPECT_EQ(text(boundsOf(linear(8, 32, 8)).span), "103 L2");
  EXPECT_EQ(boundsOf(linear(4, 8, 7, {.transfer = 1})).span.least, 24 + 6); // six hops, no warm-up
}

// Full rate under a V takes a memory of (2p + 2) / 3 at unit costs, by the first rank's lives:
// 2p pairs of F and I down from stage 0, one from the last stage, a W each.
TEST(Bounds, Little) {
  const std::int64_t lives = 2 * 8 + 2 * 1 + 2; // of the first rank, p = 4
  EXPECT_EQ(boundsOf(vee(4, 1000, 1)).span.least, 1000 * lives);
  EXPECT_EQ(text(boundsOf(vee(4, 1000, 2)).span), std::to_string(1000 * lives / 2) + " L3");
  EXPECT_EQ(boundsOf(vee(16, 4096, 12)).span.label, "L4"); // (2p + 2) / 3 = 11.3: at full rate
  EXPECT_EQ(boundsOf(vee(16, 4096, 11)).span.label, "L3");
}

// One microbatch goes down and up, whatever is kept.
TEST(Bounds, Drain) {
  EXPECT_EQ(boundsOf(linear(4, 1, 0, kUneven)).makespan.least, 4 * 22 + 8);
  EXPECT_EQ(boundsOf(linear(4, 2, 1, kUneven)).makespan.least, (4 * 22 + 8) + (10 + 22 * 3 + 20));
}

TEST(Bounds, Link) {
  EXPECT_EQ(boundsOf(linear(4, 8, 0, {.transfer = 3})).link, 24);
  EXPECT_EQ(boundsOf(vee(4, 8, 0, {.transfer = 3})).link, 48); // both chunks, one up, one down
  EXPECT_EQ(boundsOf(linear(4, 8, 0)).link, 0);
}

// So it is proved that nothing is faster under the same memory.
TEST(Bounds, ZeroBubbleH1IsOptimal) {
  for (const UnitCosts costs : {UnitCosts{}, kUneven, kFar})
    for (const int ranks : {2, 4, 8, 16}) {
      const Schedule order =
          orders::zeroBubbleH1.build({.ranks = ranks, .microbatches = 4 * ranks});
      const UnitTimes times = simulate(order, costs);
      const Bounds bounds = boundsOf(boundedShapeOf(order, costs));
      EXPECT_EQ(times.makespan, bounds.makespan.least) << ranks;
      EXPECT_EQ(*std::max_element(times.span.begin(), times.span.end()), bounds.span.least);
    }
}

// Rows of the makers of the zero-bubble family, of Megatron's tables and of DualPipe: their
// makespan and longest span; of the last two the makespan alone is known.
struct Row {
  std::string_view name;
  BoundedShape shape;
  std::int64_t makespan, span;
  bool isReached; // makespan and span are the bounds
};

TEST(Bounds, HoldForThePeersRows) {
  for (const Row &row : {Row{"zb1p", linear(8, 16, 8), 55, 55, true},
                         {"zb2p", linear(8, 16, 16), 55, 48, true},
                         {"zbv", vee(8, 16, 16), 103, 96, true},
                         {"vhalf", vee(4, 8, 6), 53, 53, true},
                         {"vhalf", vee(8, 16, 10), 113, 113, true},
                         {"vmin", vee(4, 8, 4), 59, 59, true},
                         {"vmin", vee(8, 16, 8), 123, 123, false},
                         {"v1f1b", vee(8, 16, 12), 129, 129, false},
                         {"megatron", loop(4, 8, 2, 11), 57, 57, false},
                         {"megatron", loop(4, 8, 4, 19), 105, 105, false},
                         {"megatron", loop(8, 16, 2, 23), 117, 117, false},
                         {"dualpipe", bothWays(4, 8, 5), 26, 26, false},
                         {"dualpipe", bothWays(8, 16, 9), 54, 54, false},
                         {"dualpipev", vee(4, 8, 9), 54, 54, false},
                         {"dualpipev", vee(8, 16, 17), 110, 110, false},
                         {"zb1p", linear(4, 8, 4, kUneven), 282, 282, true},
                         {"zb2p", linear(4, 8, 8, kUneven), 270, 252, false},
                         {"zbv", vee(4, 8, 8, kUneven), 516, 496, false},
                         {"vmin", vee(4, 8, 4, kUneven), 688, 688, false}}) {
    const Bounds bounds = boundsOf(row.shape);
    EXPECT_LE(bounds.makespan.least, row.makespan) << row.name;
    EXPECT_LE(bounds.span.least, row.span) << row.name;
    EXPECT_EQ(row.isReached, bounds.makespan.least == row.makespan && bounds.span.least == row.span)
        << row.name << ' ' << row.shape.ranks << ' ' << row.shape.microbatches;
  }
}

// Whatever order, shape and costs: a bound that something undercuts is none.
TEST(Bounds, NoOrderUndercutsThem) {
  int compared = 0;
  for (const Order &order : allOrders())
    for (int ranks = 1; ranks <= 6; ++ranks)
      for (int microbatches = 1; microbatches <= 20; microbatches += 1 + microbatches / 3) {
        const ScheduleShape shape = shapeFor(order, ranks, microbatches);
        if (!order.trains || check(order, shape))
          continue;
        const Schedule built = order.build(shape);
        for (const UnitCosts costs : {UnitCosts{}, kUneven, kFar, UnitCosts{3, 1, 7, 2}}) {
          const UnitTimes times = simulate(built, costs);
          const Bounds bounds = boundsOf(boundedShapeOf(built, costs));
          const Periods periods = periodsOf(built, costs);
          const std::string where = std::string(order.name) + " " + std::to_string(ranks) + " " +
                                    std::to_string(microbatches) + " F " +
                                    std::to_string(costs.forward);
          EXPECT_LE(bounds.makespan.least, times.makespan) << where;
          EXPECT_LE(bounds.span.least, *std::max_element(times.span.begin(), times.span.end()))
              << where;
          EXPECT_LE(static_cast<double>(bounds.span.least), periods.postValidated + 1e-9) << where;
          EXPECT_LE(periods.postValidated, periods.barrier + 1e-9) << where;
          ++compared;
        }
      }
  EXPECT_GT(compared, 500);
}

// Stages of their own costs, a head that takes long, any order: nothing undercuts its bound, and
// what all stages alike have is what they had.
TEST(Bounds, HoldWhereStagesDiffer) {
  std::mt19937 random(5);
  int held = 0;
  for (const Order &order : allOrders())
    for (int draw = 0; draw < 4; ++draw) {
      const ScheduleShape shape = shapeFor(order, 4, draw < 2 ? 8 : 16);
      if (!order.trains || check(order, shape))
        continue;
      const Schedule built = order.build(shape);
      TaskCosts costs = taskCosts({}, built.placement.size());
      costs.transfer = draw % 2 * 3;
      const BoundedShape bounded = boundedShapeOf(built, {.transfer = draw % 2 * 3});
      EXPECT_EQ(boundsOf(bounded, costs).makespan.least, boundsOf(bounded).makespan.least);
      EXPECT_EQ(boundsOf(bounded, costs).span.least, boundsOf(bounded).span.least);
      for (StageCosts &stage : costs.stages) {
        stage = {1 + std::int64_t(random() % 20), 1 + std::int64_t(random() % 20),
                 1 + std::int64_t(random() % 20)};
        stage.backward = stage.backwardInput + stage.backwardWeight;
      }
      const Bounds bounds = boundsOf(bounded, costs);
      const Periods periods = periodsOf(built, costs);
      EXPECT_LE(double(bounds.makespan.least), periods.barrier) << order.name << " " << draw;
      EXPECT_LE(double(bounds.span.least), periods.postValidated + 1e-6)
          << order.name << " " << draw;
      EXPECT_EQ(bounds.makespan.least, *std::ranges::max_element(bounds.makespans));
      ++held;
    }
  EXPECT_GT(held, 40);
}

// One stage that takes twice as long on the last of four ranks: 3 forwards until it begins, eight
// microbatches of it, and the gradient of the last one on its way back.
TEST(Bounds, AHeadThatTakesTwiceAsLong) {
  TaskCosts costs = taskCosts({}, 4);
  costs.stages[3] = {2, 2, 2, 4};
  const Bounds bounds = boundsOf(linear(4, 8, 0), costs);
  EXPECT_EQ(bounds.makespans[0], 3 + 8 * 6);
  EXPECT_EQ(bounds.spans[0], 8 * 6);
}

} // namespace
} // namespace vime
