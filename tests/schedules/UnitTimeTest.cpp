// The simulator: starts, sums, and how it speaks of orders that cannot complete.
#include "schedules/UnitTime.h"
#include "schedules/Notation.h"
#include "schedules/Orders/Orders.h"
#include "tests/schedules/ParsedOrder.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

std::string whyStuck(std::string_view csv) {
  const UnitTimes times = simulate(parsed(csv));
  return times.stuck ? times.stuck->message : "not stuck";
}

TEST(UnitTime, TasksStartWhenRankAndInputsAreReady) {
  const UnitTimes times = simulate(parsed("0F0,0F1,,0B0,0B1\n1F0,1B0,1F1,1B1\n"));
  EXPECT_EQ(times.start[0], (std::vector<std::int64_t>{0, 1, -1, 4, 7}));
  EXPECT_EQ(times.start[1], (std::vector<std::int64_t>{1, 2, 4, 5}));
  EXPECT_EQ(times.makespan, 9);
  EXPECT_EQ(times.busy, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(times.span, (std::vector<std::int64_t>{9, 6}));
  EXPECT_DOUBLE_EQ(times.bubble, 1.0 / 3.0);
  EXPECT_EQ(times.peakLive, (std::vector<int>{2, 1}));
}

TEST(UnitTime, CostsAreTheCallers) {
  const Schedule order = parsed("0F0,0I0,0W0\n1F0,1I0,1W0\n");
  EXPECT_EQ(simulate(order, {.forward = 10, .backwardInput = 12, .backwardWeight = 8}).makespan,
            10 + 10 + 12 + 12 + 8);
}

TEST(UnitTime, TransfersTakeTimeBetweenRanks) {
  const Schedule order = parsed("0F0,0B0\n1F0,2F0,2B0,1B0\n");
  EXPECT_EQ(simulate(order).makespan, 9);
  EXPECT_EQ(simulate(order, {.transfer = 5}).makespan, 9 + 2 * 5); // 1 and 2 share a rank
}

// Two copies of two stages, against each other: microbatch 1 never leaves the second.
TEST(UnitTime, CopiesPassNothingToEachOther) {
  Schedule order = parsed("0F0,3F1,3B1,0B0\n2F1,1F0,1B0,2B1\n");
  EXPECT_TRUE(simulate(order).stuck.has_value());
  order.copies = 2;
  EXPECT_EQ(simulate(order).stuck, std::nullopt);
  EXPECT_EQ(simulate(order).makespan, 6);
}

// The second slice attends to the first, so its gradient comes first.
TEST(UnitTime, SlicesDependOnEachOther) {
  Schedule order = parsed("0F0,0F1,0B0,0B1\n");
  EXPECT_EQ(simulate(order).stuck, std::nullopt);
  order.slices = 2;
  EXPECT_TRUE(simulate(order).stuck.has_value());
  order = parsed("0F0,0F1,0B1,0B0\n");
  order.slices = 2;
  EXPECT_EQ(simulate(order).stuck, std::nullopt);
  order.slices = 3;
  EXPECT_EQ(simulate(order).stuck->message,
            "rank 0 stops at 0B1: it waits for 0B2, which no rank runs");
}

// An activation outlives the input gradient: the weight gradient still reads it.
TEST(UnitTime, ActivationsLiveUntilTheWeightGradient) {
  EXPECT_EQ(simulate(parsed("0F0,0I0,0F1,0I1,0W0,0W1\n")).peakLive, (std::vector<int>{2}));
  EXPECT_EQ(simulate(parsed("0F0,0I0,0W0,0F1,0I1,0W1\n")).peakLive, (std::vector<int>{1}));
}

TEST(UnitTime, NamesAnInputThatNobodyMakes) {
  EXPECT_EQ(whyStuck("0F0,0B0\n1F0\n"),
            "rank 0 stops at 0B0: it waits for 1B0, which no rank runs");
  EXPECT_EQ(whyStuck("0F0,0W0\n"), "rank 0 stops at 0W0: it waits for 0I0, which no rank runs");
  EXPECT_EQ(whyStuck("0F0,0B0\n1F1,1B0\n"),
            "rank 1 stops at 1F1: it waits for 0F1, which no rank runs");
}

TEST(UnitTime, NamesACircle) {
  EXPECT_EQ(whyStuck("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"),
            "rank 0 stops at 0B0: it waits for 1B0, which stands behind 1F1 on rank 1");
  EXPECT_EQ(whyStuck("0B0,0F0\n"),
            "rank 0 stops at 0B0: it waits for 0F0, which stands behind 0B0 on rank 0");
}

TEST(UnitTime, RefusesTasksOutOfRange) {
  const Schedule order{{0}, {{{TaskKind::Forward, 7, 0}}}};
  EXPECT_EQ(simulate(order).stuck->message,
            "rank 0 stops at 7F0: there is no such stage or microbatch");
  const Schedule negative{{0}, {{{TaskKind::Forward, 0, -4}}}};
  EXPECT_TRUE(simulate(negative).stuck.has_value());
  const Schedule huge{{0}, {{{TaskKind::Forward, 0, 2'000'000'000}}}};
  EXPECT_TRUE(simulate(huge).stuck.has_value());
}

TEST(UnitTime, AnEmptyOrderTakesNoTime) {
  EXPECT_EQ(simulate({}).makespan, 0);
  EXPECT_EQ(simulate({}).stuck, std::nullopt);
}

} // namespace
} // namespace vime
