// Every order equals the tables under golden/ cell by cell; see golden/README.md for where they
// come from.
#include "schedules/Notation.h"
#include "schedules/Registry.h"
#include "tests/schedules/GoldenTables.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

// Of the schedule that PyTorch calls so; null where it is none of ours.
const Order *ours(const std::string &theirs) {
  for (const auto &[name, order] :
       {std::pair("ForwardOnly", "forward-only"), std::pair("GPipe", "gpipe"),
        std::pair("1F1B", "1f1b"), std::pair("LoopedBFS", "looped-bfs"),
        std::pair("Interleaved1F1B", "interleaved"),
        std::pair("InterleavedZeroBubble", "interleaved-zb"), std::pair("ZBVZeroBubble", "zb-v"),
        std::pair("DualPipeV", "dualpipe-v")})
    if (theirs == name)
      return findOrder(order);
  return nullptr;
}

TEST(Golden, PyTorch) {
  int equal = 0;
  for (const GoldenTable &table : goldenTables()) {
    const Order *order = ours(table.schedule);
    if (order == nullptr || table.isOld || table.content != "compute")
      continue;
    SCOPED_TRACE(table.name);
    ASSERT_EQ(check(*order, table.shape), std::nullopt);
    EXPECT_EQ(toCsv(order->build(table.shape)), table.text);
    ++equal;
  }
  // 8 ForwardOnly, 8 GPipe, 7 1F1B, 24 LoopedBFS, 24 Interleaved1F1B, 24 InterleavedZeroBubble,
  // 8 ZBVZeroBubble, 5 DualPipeV
  EXPECT_EQ(equal, 108);
}

TEST(Golden, PyTorchMetrics) {
  int checked = 0;
  for (const GoldenMetrics &metrics : goldenMetrics()) {
    const Order *order = ours(metrics.schedule);
    if (order == nullptr || !order->trains) // forwards alone: theirs never frees an activation
      continue;
    SCOPED_TRACE(testing::Message() << metrics.schedule << " ranks " << metrics.shape.ranks
                                    << " microbatches " << metrics.shape.microbatches);
    const UnitTimes times = simulate(order->build(metrics.shape));
    EXPECT_EQ(times.stuck, std::nullopt);
    // Theirs end a pair as a whole; here its forward has ended when its backward begins.
    const bool hasPairs = order->name == "dualpipe-v";
    EXPECT_EQ(static_cast<double>(times.makespan),
              metrics.makespan - (hasPairs ? metrics.shape.ranks - 1 : 0));
    if (!hasPairs) {
      EXPECT_NEAR(times.bubble, metrics.bubble, 5e-5); // four places are given
    }
    std::string peaks;
    for (const int peak : times.peakLive)
      peaks += (peaks.empty() ? "" : " ") + std::to_string(peak);
    EXPECT_EQ(peaks, metrics.peaks);
    ++checked;
  }
  EXPECT_EQ(checked, 100);
}

// A table of golden/zero-bubble, and the order that is the same.
struct Published {
  std::string file;
  std::string_view order;
  ScheduleShape shape;
};

std::vector<Published> publishedTables() {
  std::vector<Published> tables{
      {"megatron_int_p4_m8_v2_g4", "interleaved", {4, 8, 2, /*group=*/4}},
      {"megatron_int_p4_m8_v2_g8", "interleaved", {4, 8, 2, /*group=*/8}},
      {"megatron_int_p4_m8_v4_g4", "interleaved", {4, 8, 4, /*group=*/4}},
      {"megatron_int_p8_m16_v2_g8", "interleaved", {8, 16, 2, /*group=*/8}},
      {"ppvis_1f1b_overlap_p4_m8", "eager-1f1b", {.ranks = 4, .microbatches = 8, .overlap = true}},
      {"ppvis_int1f1b_overlap_p4_m8_v2",
       "interleaved",
       {.ranks = 4, .microbatches = 8, .chunks = 2, .group = 4, .overlap = true}},
      {"ppvis_zb1p_p4_m8", "zb-h1", {4, 8}},
      {"zbpp_v1f1b_p4_m8_v2_f10b12w8", "1f1b-v", {4, 8, 2}},
  };
  const auto named = [](int ranks, int microbatches) {
    return "_p" + std::to_string(ranks) + "_m" + std::to_string(microbatches);
  };
  const auto add = [&](std::string file, std::string_view order, ScheduleShape shape) {
    tables.push_back({std::move(file), order, shape});
  };
  for (const auto &[ranks, microbatches] : {std::pair(4, 8), std::pair(8, 16)}) {
    add("rule_zbh1" + named(ranks, microbatches), "zb-h1", {ranks, microbatches});
    add("rule_zbh2" + named(ranks, microbatches), "zb-h2", {ranks, microbatches});
    add("dualpipe" + named(ranks, microbatches), "dualpipe", {ranks, microbatches});
  }
  for (const auto &[ranks, microbatches] : {std::pair(2, 4), std::pair(4, 8), std::pair(8, 16)}) {
    add("rule_torch_zbv" + named(ranks, microbatches), "zb-v", {ranks, microbatches, 2});
    add("dualpipev" + named(ranks, microbatches), "dualpipe-v", {ranks, microbatches, 2});
  }
  for (const auto &[ranks, microbatches] :
       {std::pair(2, 4), std::pair(4, 4), std::pair(4, 8), std::pair(8, 16)}) {
    const std::string shape = named(ranks, microbatches);
    add("zbpp_1f1b" + shape + "_v1", "1f1b", {ranks, microbatches});
    add("zbpp_v1f1b" + shape + "_v2", "1f1b-v", {ranks, microbatches, 2});
    add("zbpp_seq1f1b" + shape + "_v1", "seq1f1b",
        {.ranks = ranks, .microbatches = microbatches, .slices = 4});
    for (const int chunks : {2, 4}) {
      const std::string over = shape + "_v" + std::to_string(chunks);
      add("zbpp_vpp" + over, "interleaved", {ranks, microbatches, chunks, /*group=*/ranks});
      for (const int group : {ranks / 2, ranks})
        if (ranks > 2)
          add("zbpp_gint" + std::to_string(group) + over, "grouped",
              {ranks, microbatches, chunks, group});
    }
  }
  return tables;
}

TEST(Golden, ZeroBubbleFamily) {
  for (const Published &table : publishedTables()) {
    SCOPED_TRACE(table.file);
    const Order *order = findOrder(table.order);
    ASSERT_EQ(check(*order, table.shape), std::nullopt);
    EXPECT_EQ(inZeroBubbleNotation(order->build(table.shape)), zeroBubbleTable(table.file));
  }
}

Schedule withoutPairs(Schedule order) {
  for (std::vector<Task> &row : order.rows)
    for (Task &task : row)
      task.overlapsNext = false;
  return order;
}

// Megatron's table says nothing of pairs.
TEST(Golden, InterleavedPairsRunInMegatronsSequence) {
  const Schedule order =
      findOrder("interleaved")
          ->build({.ranks = 4, .microbatches = 8, .chunks = 2, .group = 4, .overlap = true});
  EXPECT_EQ(inZeroBubbleNotation(withoutPairs(order)),
            zeroBubbleTable("megatron_int_p4_m8_v2_g4_epoverlap"));
}

} // namespace
} // namespace vime
