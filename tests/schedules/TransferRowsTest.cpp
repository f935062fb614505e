// Transfers among tasks: how many slots a receiver needs, and what gets stuck over which queues.
#include "schedules/PyTorchTransfers.h"
#include "schedules/SlotsForCosts.h"
#include "schedules/TransferComparison.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/PyTorchShapes.h"

#include <map>

#include <gtest/gtest.h>

namespace vime {
namespace {

constexpr UnitCosts kShort{.forward = 10, .backwardInput = 10, .backwardWeight = 10, .transfer = 1};
constexpr UnitCosts kHalf{.forward = 10, .backwardInput = 10, .backwardWeight = 10, .transfer = 5};

Schedule built(std::string_view order, int ranks, int microbatches) {
  return findOrder(order)->build(shapeFor(*findOrder(order), ranks, microbatches));
}

/// Of every order that trains, for these ranks and microbatches or the nearest that it takes.
template <typename Visit> void forEachOrder(int ranks, int microbatches, Visit visit) {
  for (const Order &order : allOrders()) {
    ScheduleShape shape = shapeFor(order, ranks, microbatches);
    if (const auto problem = check(order, shape))
      shape = problem->nearest.front();
    if (!order.trains)
      continue;
    const Schedule schedule = order.build(shape);
    int count = 0;
    for (const auto &row : schedule.rows)
      for (const Task &task : row)
        count = std::max(count, task.microbatch + 1);
    visit(order, schedule, count);
  }
}

std::string shown(const std::vector<RowAction> &row) {
  std::string text;
  for (const auto &[kind, task] : row) {
    constexpr const char *kNames[] = {"F", "B", "I", "W"};
    constexpr const char *kEnds[] = {"", "send ", "receive "};
    text += (text.empty() ? "" : ", ") + std::string(kEnds[static_cast<int>(kind)]) +
            std::to_string(task.stage) + kNames[static_cast<int>(task.kind)] +
            std::to_string(task.microbatch);
  }
  return text;
}

// F = 1, B = 2 and a latency of 0.1, as compiler/docs/execution-model.md has them.
TEST(ReceiveSlots, ThreeHideWhatTwoDoNot) {
  const Schedule small = built("1f1b", 4, 8);
  EXPECT_EQ(simulate(small, kShort).makespan, 346);
  EXPECT_EQ(timeWithSlots(small, 8, kShort, {}), 348);
  EXPECT_EQ(timeWithSlots(small, 8, kShort, {{3}}), 346);
  const Schedule large = built("1f1b", 8, 32);
  EXPECT_EQ(simulate(large, kShort).makespan, 1238);
  EXPECT_EQ(timeWithSlots(large, 32, kShort, {}), 1244);
  EXPECT_EQ(timeWithSlots(large, 32, kShort, {{3}}), 1238);
}

// Half a task on the way: of all orders at most one hundredth is left of what two slots cost.
TEST(ReceiveSlots, ChosenOnesLeaveLessThanAHundredth) {
  forEachOrder(8, 32, [](const Order &order, const Schedule &schedule, int microbatches) {
    const int slots = slotsForCosts(schedule, microbatches, kHalf);
    EXPECT_GE(slots, kUsualSlots) << order.name;
    EXPECT_LE(slots, 5) << order.name;
    const auto dataflow = static_cast<double>(simulate(schedule, kHalf).makespan);
    EXPECT_LE(static_cast<double>(*timeWithSlots(schedule, microbatches, kHalf, {{slots}})),
              1.01 * dataflow)
        << order.name;
  });
}

TEST(ReceiveSlots, TwoAreEnoughWhereTransfersAreFree) {
  forEachOrder(4, 8, [](const Order &order, const Schedule &schedule, int microbatches) {
    EXPECT_EQ(slotsForCosts(schedule, microbatches, {}), kUsualSlots) << order.name;
  });
}

TEST(ReceiveSlots, NoneIsFasterThanDataflowAndNoNumberGetsStuck) {
  forEachOrder(4, 12, [](const Order &order, const Schedule &schedule, int microbatches) {
    for (int slots = 1; slots <= 8; ++slots) {
      const auto time = timeWithSlots(schedule, microbatches, kHalf, {{slots}});
      ASSERT_TRUE(time) << order.name << " with " << slots;
      EXPECT_GE(*time, simulate(schedule, kHalf).makespan) << order.name;
    }
  });
}

// Each rank has its own number.
TEST(ReceiveSlots, OfOneRankAlone) {
  const Schedule order = built("1f1b", 4, 8);
  for (std::size_t rank = 0; rank < 4; ++rank)
    for (const int slots : {1, 3, 6}) {
      ReceiveSlots one{{2, 2, 2, 2}};
      one.byRank[rank] = slots;
      EXPECT_TRUE(timeWithSlots(order, 8, kHalf, one));
    }
}

// A rank's queues merged in any way: whoever dispatches in clock order never gets stuck.
TEST(ReceiveSlots, ClockOrderGetsStuckOverNoQueues) {
  forEachOrder(4, 12, [](const Order &order, const Schedule &schedule, int microbatches) {
    for (int slots = 1; slots <= 4; ++slots) {
      const ReceiveSlots all{{slots}};
      const auto rows = rowsOf(*layClock(schedule, microbatches, all), schedule, microbatches, all);
      for (const Queues queues : {Queues::PerPair, Queues::PerDirection, Queues::PerFlow})
        EXPECT_TRUE(rendezvous(rows, kHalf, queues)) << order.name << " with " << slots;
    }
  });
}

TEST(Rendezvous, CrossedSendsOfOneQueueNeverPass) {
  TransferRows rows{.placement = {0, 1}, .microbatches = 2};
  const Task forward{TaskKind::Forward, 0, 1}, backward{TaskKind::BackwardInput, 1, 0};
  using enum RowAction::Kind;
  rows.rows = {{{Send, forward}, {Receive, backward}}, {{Send, backward}, {Receive, forward}}};
  rows.rows[0].push_back({Task, {TaskKind::Backward, 0, 0}});
  rows.rows[1].push_back({Task, {TaskKind::Forward, 1, 1}});
  EXPECT_FALSE(rendezvous(rows, kShort, Queues::PerPair));
  EXPECT_EQ(rendezvous(rows, kShort, Queues::PerDirection), 21);
}

TEST(PyTorchTransfers, ReceivesStandWhereTheirSendersSend) {
  const auto rows = transfersAsPyTorch(built("1f1b", 2, 2), 2);
  ASSERT_TRUE(rows);
  EXPECT_EQ(shown(rows->rows[0]),
            "0F0, send 0F0, 0F1, send 0F1, receive 1I0, 0B0, receive 1I1, 0B1");
  EXPECT_EQ(shown(rows->rows[1]),
            "receive 0F0, 1F0, receive 0F1, 1B0, send 1I0, 1F1, 1B1, send 1I1");
  const TransferRows deferred = deferredReceives(*rows);
  EXPECT_EQ(shown(deferred.rows[0]),
            "0F0, send 0F0, 0F1, send 0F1, receive 1I0, 0B0, receive 1I1, 0B1");
  EXPECT_EQ(shown(deferred.rows[1]),
            "receive 0F0, 1F0, 1B0, send 1I0, receive 0F1, 1F1, 1B1, send 1I1");
}

// Tables, and how many of them never end.
struct Counted {
  int tables = 0, deferredPerPair = 0, deferredPerDirection = 0;
  bool operator==(const Counted &) const = default;
};

// PyTorch's places for receives over strict rendezvous, and ours. Nobody's early ones get stuck.
TEST(PyTorchTransfers, DeferredReceivesGetStuck) {
  std::map<std::string_view, Counted> counted;
  Counted all;
  for (const auto &[order, shape] : pyTorchShapes()) {
    SCOPED_TRACE(testing::Message() << order->name << " " << shape.ranks << " "
                                    << shape.microbatches << " " << shape.chunks);
    const int count = shape.microbatches;
    const Schedule schedule = order->build(shape);
    const auto early = transfersAsPyTorch(schedule, count);
    ASSERT_TRUE(early);
    const TransferRows deferred = deferredReceives(*early);
    const auto ours = rowsOf(*layClock(schedule, count), schedule, count);
    for (Counted *sum : {&counted[order->name], &all}) {
      ++sum->tables;
      sum->deferredPerPair += !rendezvous(deferred, kShort, Queues::PerPair);
      sum->deferredPerDirection += !rendezvous(deferred, kShort, Queues::PerDirection);
    }
    for (const Queues queues : {Queues::PerPair, Queues::PerDirection, Queues::PerFlow}) {
      EXPECT_TRUE(rendezvous(*early, kShort, queues));
      EXPECT_TRUE(rendezvous(ours, kShort, queues));
    }
  }
  EXPECT_EQ(counted["gpipe"], (Counted{21, 0, 0}));
  EXPECT_EQ(counted["forward-only"], (Counted{21, 0, 0}));
  EXPECT_EQ(counted["1f1b"], (Counted{17, 17, 0}));
  EXPECT_EQ(counted["looped-bfs"], (Counted{63, 10, 0}));
  EXPECT_EQ(counted["interleaved"], (Counted{63, 54, 0}));
  EXPECT_EQ(counted["interleaved-zb"], (Counted{63, 54, 8}));
  EXPECT_EQ(counted["zb-v"], (Counted{21, 18, 14}));
  EXPECT_EQ(counted["dualpipe-v"], (Counted{11, 11, 8}));
  EXPECT_EQ(all, (Counted{280, 164, 30}));
}

TEST(TransferComparison, IsInTheUnitOfAWholeShare) {
  const auto all = compareTransfers({.ranks = 4, .microbatches = 8, .costs = kShort, .chunks = {}});
  ASSERT_GE(all.size(), 5U);
  for (const ComparedTransfers &entry : all) {
    EXPECT_GE(entry.withSlots[1].value_or(0), entry.dataflow) << entry.order->name;
    EXPECT_GE(entry.chosen, 2) << entry.order->name;
    EXPECT_EQ(entry.early.has_value(), unitsOf(*entry.order).copies == 1) << entry.order->name;
    if (entry.order->name == "1f1b") {
      EXPECT_EQ(entry.dataflow, 346);
      EXPECT_EQ(entry.withSlots[1], 348);
      EXPECT_EQ(entry.early->time, 348);
      EXPECT_FALSE(entry.deferred->time);
    }
  }
}

} // namespace
} // namespace vime
