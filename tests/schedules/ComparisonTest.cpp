// All orders side by side, at equal work.
#include "schedules/Comparison.h"
#include "schedules/OrderTable.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

const ComparedOrder &named(const std::vector<ComparedOrder> &all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const ComparedOrder &entry) { return entry.order->name == name; });
}

TEST(Comparison, UnitsAreThoseOfTheOrder) {
  EXPECT_FALSE(unitsOf(*findOrder("1f1b")).splits);
  EXPECT_TRUE(unitsOf(*findOrder("zb-h1")).splits);
  EXPECT_FALSE(unitsOf(*findOrder("zb-v")).pairs);
  EXPECT_EQ(unitsOf(*findOrder("zb-v")).copies, 1);
}

// Whatever the stages are cut into, a rank works m (F + I + W); what it idles is the formula of the
// order's record, and activations are those of a rank's whole share.
TEST(Comparison, IsAtEqualWork) {
  const auto all =
      compareOrders({.ranks = 4, .microbatches = 8, .costs = {10, 12, 8}, .chunks = {}});
  const ComparedFigures oneFOneB = *named(all, "1f1b").figures;
  EXPECT_EQ(oneFOneB.makespan, 8 * 30 + 3 * 30);
  EXPECT_EQ(oneFOneB.peak, 4);
  const ComparedFigures interleaved = *named(all, "interleaved").figures;
  EXPECT_EQ(interleaved.makespan, 8 * 30 + 3 * 30 / 2.0);
  EXPECT_EQ(interleaved.peak, (2 * 3 + 4 + 1) / 2.0);
  const ComparedFigures vee = *named(all, "zb-v").figures;
  EXPECT_EQ(vee.makespan, 516 / 2.0);
  EXPECT_EQ(vee.peak, 4);
  EXPECT_EQ(named(all, "zb-h1").figures->makespan, 8 * 30 + 3 * (10 + 12 - 8));
}

TEST(Comparison, ChunksAreTheCallersWhereAnOrderHasAChoice) {
  const auto all =
      compareOrders({.ranks = 4, .microbatches = 8, .costs = {12, 12, 12}, .chunks = 4});
  EXPECT_EQ(named(all, "interleaved").figures->makespan, 8 * 36 + 3 * 36 / 4.0);
  EXPECT_EQ(named(all, "1f1b").shape.chunks, 1);
}

// A message is as large between small stages as between large ones.
TEST(Comparison, MessagesTakeTheirWholeTime) {
  const auto all =
      compareOrders({.ranks = 2, .microbatches = 1, .costs = {10, 12, 8, 3}, .chunks = {}});
  EXPECT_EQ(named(all, "gpipe").figures->makespan, 2 * 30 + 2 * 3);
  EXPECT_EQ(named(all, "interleaved").figures->makespan, 2 * 30 + 6 * 3);
}

// Orders that keep more stand behind; those that take a memory are made for this one.
TEST(Comparison, MemoryIsCountedInWholeShares) {
  const auto all = compareOrders({.ranks = 4, .microbatches = 8, .costs = {}, .memory = 3});
  EXPECT_TRUE(named(all, "1f1b").exceedsMemory); // 4
  EXPECT_TRUE(named(all, "zb-h1").exceedsMemory);
  EXPECT_FALSE(named(all, "v-half").exceedsMemory); // 6 of 2 chunks
  bool behind = false;
  for (const ComparedOrder &entry : all) {
    EXPECT_TRUE(!behind || entry.exceedsMemory || !entry.figures) << entry.order->name;
    behind |= entry.exceedsMemory;
    if (entry.figures && entry.order->takes.memory) {
      EXPECT_EQ(entry.shape.memory, 3 * entry.shape.chunks) << entry.order->name;
      EXPECT_LE(entry.figures->peak, 3) << entry.order->name;
    }
  }
}

TEST(Comparison, IsSortedAndKeepsWhatCannotBeBuilt) {
  const auto all = compareOrders({.ranks = 4, .microbatches = 11, .costs = {}, .chunks = {}});
  EXPECT_EQ(all.back().figures, std::nullopt);
  double last = 0;
  for (const ComparedOrder &entry : all) {
    EXPECT_EQ(entry.figures.has_value(), !entry.problem.has_value()) << entry.order->name;
    if (!entry.figures)
      continue;
    EXPECT_LE(last, entry.figures->periods.barrier) << entry.order->name;
    last = entry.figures->periods.barrier;
    EXPECT_GE(entry.figures->gap.barrier, 0) << entry.order->name;
    EXPECT_GE(entry.figures->gap.postValidated, -1e-9) << entry.order->name;
    EXPECT_FALSE(entry.figures->bindsBarrier.empty()) << entry.order->name;
  }
  EXPECT_NE(named(all, "interleaved").problem->help.find("10 or 12"), std::string::npos);
}

} // namespace
} // namespace vime
