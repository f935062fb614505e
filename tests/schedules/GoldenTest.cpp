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
       {std::pair("GPipe", "gpipe"), std::pair("1F1B", "1f1b"),
        std::pair("Interleaved1F1B", "interleaved"), std::pair("ZBVZeroBubble", "zb-v")})
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
  EXPECT_EQ(equal, 47); // 8 GPipe, 7 1F1B, 24 interleaved, 8 ZB-V
}

TEST(Golden, PyTorchMetrics) {
  int checked = 0;
  for (const GoldenMetrics &metrics : goldenMetrics()) {
    const Order *order = ours(metrics.schedule);
    if (order == nullptr)
      continue;
    SCOPED_TRACE(testing::Message() << metrics.schedule << " ranks " << metrics.shape.ranks
                                    << " microbatches " << metrics.shape.microbatches);
    const UnitTimes times = simulate(order->build(metrics.shape));
    EXPECT_EQ(times.stuck, std::nullopt);
    EXPECT_EQ(static_cast<double>(times.makespan), metrics.makespan);
    EXPECT_NEAR(times.bubble, metrics.bubble, 5e-5); // four places are given
    std::string peaks;
    for (const int peak : times.peakLive)
      peaks += (peaks.empty() ? "" : " ") + std::to_string(peak);
    EXPECT_EQ(peaks, metrics.peaks);
    ++checked;
  }
  EXPECT_EQ(checked, 47);
}

TEST(Golden, ZeroBubbleH1) {
  const Order *order = findOrder("zb-h1");
  for (const ScheduleShape shape : {ScheduleShape{4, 8}, ScheduleShape{8, 16}}) {
    const std::string name =
        "rule_zbh1_p" + std::to_string(shape.ranks) + "_m" + std::to_string(shape.microbatches);
    EXPECT_EQ(inZeroBubbleNotation(order->build(shape)), zeroBubbleTable(name));
  }
}

} // namespace
} // namespace vime
