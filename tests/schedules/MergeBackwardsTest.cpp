// Halves of backwards that become one task: which, and that no step gets longer by it.
#include "schedules/MergeBackwards.h"
#include "schedules/Comparison.h"
#include "schedules/Notation.h"
#include "schedules/PipelineClock.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/OrderJudge.h"
#include "tests/schedules/ParsedOrder.h"
#include "tests/schedules/ShapesOfOrders.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace vime {
namespace {

std::string merged(std::string_view table, Merging merging, UnitCosts costs = {}) {
  return toCsv(mergeBackwards(parsed(table), merging, costs));
}

TEST(MergeBackwards, NeighboursAreOfOneStageAndMicrobatch) {
  EXPECT_EQ(merged("0F0,0F1,0F2,0I0,0I1,0W0,0I2,,0W2,0W1\n", Merging::All),
            "0F0,0F1,0F2,0I0,0I1,0W0,0B2,0W1\r\n");
  EXPECT_EQ(merged("0F0,0I0,0W0\n", Merging::Nowhere), "0F0,0I0,0W0\r\n");
}

TEST(MergeBackwards, APairStaysAsItIs) {
  EXPECT_EQ(merged("0F0,(0F1;0I0)OVERLAP_F_B,0W0,0I1,0W1\n", Merging::All),
            "0F0,(0F1;0I0)OVERLAP_F_B,0W0,0B1\r\n");
}

// A first stage sends nothing. The second one's gradient is waited for at once, so it is not held.
TEST(MergeBackwards, PaysWhereNobodyWaits) {
  EXPECT_EQ(merged("0F0,,,0I0,0W0\n,1F0,1I0,1W0\n", Merging::WhereItPays),
            "0F0,,,0B0\r\n,1F0,1I0,1W0\r\n");
}

// While stage 0 runs another forward, the gradient for it may come later; how much, costs say.
TEST(MergeBackwards, PaysAsFarAsCostsSay) {
  constexpr std::string_view kTable = "0F0,0F1,0F2,0F3,0I0,0W0\n1F0,1I0,1W0\n";
  EXPECT_EQ(merged(kTable, Merging::WhereItPays), "0F0,0F1,0F2,0F3,0B0\r\n1F0,1B0\r\n");
  EXPECT_EQ(merged(kTable, Merging::WhereItPays, {.transfer = 1}),
            "0F0,0F1,0F2,0F3,0B0\r\n1F0,1I0,1W0\r\n");
}

// What stands on one rank is handed over behind the weight gradient anyway.
TEST(MergeBackwards, PaysOnTheRankOfATurn) {
  EXPECT_EQ(merged("0F0,1F0,1I0,1W0,0I0,0W0\n", Merging::WhereItPays), "0F0,1F0,1B0,0B0\r\n");
}

// Where an order never finishes nobody knows who waits; it is the judge's to say.
TEST(MergeBackwards, WhatNeverFinishesStays) {
  EXPECT_EQ(merged("0I0,0W0,0F0\n1F0,1I0,1W0\n", Merging::WhereItPays),
            "0B0,0F0\r\n1F0,1I0,1W0\r\n");
}

TEST(MergeBackwards, ZeroBubbleH1) {
  const Schedule order = findOrder("zb-h1")->build({.ranks = 3, .microbatches = 4});
  EXPECT_EQ(toGrid(mergeBackwards(order, Merging::WhereItPays)), R"(
0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3
1F0 1F1 1I0 1F2 1I1 1W0 1F3 1I2 1W1 1I3 1W2 1W3
2F0 2I0 2F1 2I1 2F2 2I2 2W0 2F3 2I3 2W1 2W2 2W3
)" + 1);
}

/// When each task begins; of a whole backward when its halves would, for the halves' costs.
std::map<std::tuple<TaskKind, int, int>, std::int64_t> beginsOf(const Schedule &order,
                                                                UnitCosts costs) {
  const UnitTimes times = simulate(order, costs);
  EXPECT_FALSE(times.stuck.has_value());
  std::map<std::tuple<TaskKind, int, int>, std::int64_t> begins;
  for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
    for (std::size_t position = 0; position < order.rows[rank].size(); ++position) {
      const Task &task = order.rows[rank][position];
      const std::int64_t begin = times.start[rank][position];
      const auto note = [&](TaskKind kind, std::int64_t at) {
        begins[{kind, task.stage, task.microbatch}] = at;
      };
      if (task.kind == TaskKind::Backward) {
        note(TaskKind::BackwardInput, begin);
        note(TaskKind::BackwardWeight, begin + costs.backwardInput);
      } else if (task.kind != TaskKind::Idle) {
        note(task.kind, begin);
      }
    }
  return begins;
}

class Property : public testing::Test {
protected:
  std::mt19937 random{11};
  int upTo(int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); }

  /// Orders that split backwards, at drawn shapes.
  template <typename Visit> void forDrawnOrders(int draws, Visit visit) {
    while (draws > 0) {
      const Order &order = allOrders()[random() % allOrders().size()];
      if (!order.trains || !unitsOf(order).splits || (order.takes.costs && random() % 8 != 0))
        continue; // a search takes its time
      const ScheduleShape shape{upTo(8), upTo(24), upTo(3)};
      if (check(order, shape))
        continue;
      visit(order, shape);
      ASSERT_FALSE(HasFailure()) << named(order, shape);
      --draws;
    }
  }
};

using MergeBackwardsProperty = Property;

TEST_F(MergeBackwardsProperty, NoTaskBeginsLater) {
  std::size_t neighbours = 0, paid = 0;
  forDrawnOrders(400, [&](const Order &order, ScheduleShape shape) {
    const Schedule split = order.build(shape);
    const UnitCosts costs{upTo(12), upTo(12), upTo(12), upTo(4) - 1};
    const Schedule one = mergeBackwards(split, Merging::WhereItPays, costs);
    EXPECT_EQ(beginsOf(one, costs), beginsOf(split, costs));
    EXPECT_EQ(verdictOn(order, one, shape), "legal");
    EXPECT_EQ(mergeBackwards(one, Merging::WhereItPays, costs).rows, one.rows);
    neighbours += halvesOf(split).neighbours;
    paid += halvesOf(split).all - halvesOf(one).all;
  });
  EXPECT_GT(paid, neighbours / 10); // else little is shown
  EXPECT_LT(paid, neighbours);
}

// A plan's clock has tasks of one unit and slots for messages. (With more than two it takes
// messages to last, which these costs do not say.)
TEST_F(MergeBackwardsProperty, NoPlanGetsLonger) {
  forDrawnOrders(300, [&](const Order &order, ScheduleShape shape) {
    const Schedule split = order.build(shape);
    const Schedule one = mergeBackwards(split, Merging::WhereItPays);
    for (const int slots : {1, 2}) {
      const auto before = layClock(split, shape.microbatches, {{slots}});
      const auto after = layClock(one, shape.microbatches, {{slots}});
      EXPECT_LE(after.value().makespan, before.value().makespan) << slots << " slots";
      EXPECT_LE(after.value().peakLive, before.value().peakLive);
    }
  });
}

TEST_F(MergeBackwardsProperty, AllLeavesNoNeighbours) {
  forDrawnOrders(300, [&](const Order &order, ScheduleShape shape) {
    const Schedule split = order.build(shape);
    const Schedule all = mergeBackwards(split, Merging::All);
    EXPECT_EQ(verdictOn(order, all, shape), "legal");
    EXPECT_EQ(halvesOf(all).neighbours, 0U);
    EXPECT_EQ(halvesOf(all).all, halvesOf(split).all - halvesOf(split).neighbours);
    EXPECT_EQ(simulate(all).stuck, std::nullopt);
  });
}

} // namespace
} // namespace vime
