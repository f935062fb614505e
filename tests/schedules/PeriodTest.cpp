// Steps one behind the other: with a barrier, overlapping, and with tasks that jitter.
#include "schedules/Period.h"
#include "schedules/Orders/Orders.h"
#include "schedules/TaskGraph.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(TaskGraph, GivesTheTimesOfTheSimulator) {
  const UnitCosts costs{.forward = 3, .backwardInput = 5, .backwardWeight = 2, .transfer = 1};
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, 4, 12);
    if (const auto problem = check(order, shape))
      shape = problem->nearest.front();
    const Schedule built = order.build(shape);
    const std::optional<TaskGraph> graph = graphOf(built);
    ASSERT_TRUE(graph) << order.name;
    std::vector<std::int64_t> freeAt(built.rows.size());
    graph->advance(
        freeAt, [&](const TaskNode &node) { return costs.of(node.task.kind); }, costs.transfer);
    EXPECT_EQ(*std::max_element(freeAt.begin(), freeAt.end()), simulate(built, costs).makespan)
        << order.name;
  }
}

TEST(TaskGraph, AnOrderThatNeverFinishesHasNone) {
  EXPECT_FALSE(graphOf(parsed("0F0,0B0\n1B0,1F0\n")));
  EXPECT_FALSE(graphOf(parsed("0F0,0B0\n1F0\n")));
}

// m(F+B) + (p-1)(F+B): the last rank's drain is the first rank's wait, barrier or not.
TEST(Period, OneFOneBGainsNothingWithoutABarrier) {
  const Periods periods =
      periodsOf(orders::oneFOneB.build({.ranks = 4, .microbatches = 8}), UnitCosts{});
  EXPECT_EQ(periods.barrier, 33);
  EXPECT_EQ(periods.postValidated, 33);
}

// Qi et al.: with F = I = W a rank of ZB-V is busy from its first task to its last.
TEST(Period, ZeroBubbleVHasNoBubbleWithoutABarrier) {
  for (const int ranks : {2, 4, 8}) {
    const Schedule order =
        orders::zeroBubbleV.build({.ranks = ranks, .microbatches = 2 * ranks, .chunks = 2});
    EXPECT_EQ(periodsOf(order, UnitCosts{}).barrier, 3 * 2 * 2 * ranks + ranks - 1);
    EXPECT_EQ(periodsOf(order, UnitCosts{}).postValidated, 3 * 2 * 2 * ranks);
  }
}

TEST(Period, OfOneRankIsItsWork) {
  const Schedule one = parsed("0F0,0B0,0F1,0B1\n");
  EXPECT_EQ(periodsOf(one, {.forward = 2, .backwardInput = 3, .backwardWeight = 1}).postValidated,
            12);
}

TEST(Jitter, IsSeeded) {
  const Schedule order = orders::zeroBubbleH1.build({.ranks = 4, .microbatches = 8});
  const Periods first = growthUnderJitter(order, {}), again = growthUnderJitter(order, {});
  EXPECT_EQ(first.barrier, again.barrier);
  EXPECT_EQ(first.postValidated, again.postValidated);
  EXPECT_NE(first.barrier, growthUnderJitter(order, {}, 0.1, 2).barrier);
}

TEST(Jitter, NoneNoGrowth) {
  const Schedule order = orders::zeroBubbleH1.build({.ranks = 4, .microbatches = 8});
  EXPECT_NEAR(growthUnderJitter(order, {}, 0.0).barrier, 0, 1e-12);
  EXPECT_NEAR(growthUnderJitter(order, {}, 0.0).postValidated, 0, 1e-12);
}

// One rank waits for nobody: what tasks take too long others make good.
TEST(Jitter, OfOneRankCancelsOut) {
  const Schedule order = orders::gpipe.build({.ranks = 1, .microbatches = 64});
  EXPECT_NEAR(growthUnderJitter(order, {}).postValidated, 0, 0.003);
}

// Ranks that wait for each other pay for the latest of them, and never more than all tasks' spread.
TEST(Jitter, CostsAPipelineMore) {
  const Schedule order = orders::oneFOneB.build({.ranks = 8, .microbatches = 32});
  EXPECT_GT(growthUnderJitter(order, {}).postValidated, 0.01);
  EXPECT_LT(growthUnderJitter(order, {}).postValidated, 0.1);
}

// DualPipe's own figures: a pair takes its share of what its tasks take, and what both need has to
// be there before.
TEST(Period, PairsTakeWhatTheirMakersSay) {
  for (const auto &[name, ranks, microbatches, threeWhole, shorter] :
       {std::tuple("dualpipe", 4, 8, 26.0, 24.0),
        {"dualpipe", 8, 16, 54.0, 49.0},
        {"dualpipe-v", 4, 8, 54.0, 49.0},
        {"dualpipe-v", 8, 16, 110.0, 99.0}}) {
    const Order &order = *findOrder(name);
    const Schedule built =
        order.build({.ranks = ranks, .microbatches = microbatches, .chunks = order.chunks.usual});
    TaskCosts costs = taskCosts({2, 2, 2}, built.placement.size()); // halves of a unit
    costs.pair = 1;
    EXPECT_EQ(periodsOf(built, costs).barrier / 2, threeWhole) << name << " " << ranks;
    costs.pair = 2.5 / 3;
    EXPECT_EQ(periodsOf(built, costs).barrier / 2, shorter) << name << " " << ranks;
    // (p/2-1)(F&B + B - 3W) of each of the two directions, (p-1)(...) of one.
    const int depth = name == std::string_view("dualpipe") ? ranks / 2 : ranks;
    const int work = 3 * microbatches * order.chunks.usual;
    EXPECT_EQ(threeWhole, work + (depth - 1) * (3 + 2 - 3)) << name << " " << ranks;
  }
}

} // namespace
} // namespace vime
