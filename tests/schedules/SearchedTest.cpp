// Orders that are squeezed or searched, beside what the makers of the zero-bubble family get.
#include "schedules/Registry.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/GoldenTables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

namespace vime {
namespace {

struct MetricsRow {
  std::string file;
  const Order *order = nullptr;
  ScheduleShape shape{};
  double makespan = 0, span = 0;
  int peak = 0;
};

// A line of golden/zero-bubble/metrics.csv: file, schedule, p, m, v, makespan, span, busy, …
MetricsRow rowOf(const std::string &line) {
  static const std::map<std::string, std::string> kNames{{"vhalf", "v-half"}, {"vmin", "v-min"}};
  MetricsRow row;
  char file[64] = "", schedule[16] = "";
  if (std::sscanf(line.c_str(), "%63[^.].csv,%15[^,],%d,%d,%d,%lf,%lf,%*f,%*f,%*f,%d", file,
                  schedule, &row.shape.ranks, &row.shape.microbatches, &row.shape.chunks,
                  &row.makespan, &row.span, &row.peak) != 8)
    return row; // the head line
  row.file = file;
  row.order = findOrder(kNames.at(schedule));
  if (row.file.ends_with("f10b12w8"))
    row.shape.costs = {.forward = 10, .backwardInput = 12, .backwardWeight = 8};
  return row;
}

std::vector<MetricsRow> zeroBubbleMetrics() {
  std::vector<MetricsRow> rows;
  std::istringstream file(zeroBubbleTable("metrics"));
  for (std::string line; std::getline(file, line);)
    if (MetricsRow row = rowOf(line); row.order != nullptr)
      rows.push_back(std::move(row));
  return rows;
}

// What the order has no use for is for the clock alone.
ScheduleShape shapeTaken(const MetricsRow &row) {
  ScheduleShape shape = row.shape;
  if (!row.order->takes.costs)
    shape.costs = {};
  return shape;
}

template <typename T> T most(const std::vector<T> &numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}

TEST(Searched, NotWorseThanTheMakersOfTheFamily) {
  const std::vector<MetricsRow> rows = zeroBubbleMetrics();
  for (const MetricsRow &row : rows) {
    SCOPED_TRACE(row.file);
    ASSERT_EQ(check(*row.order, shapeTaken(row)), std::nullopt);
    const UnitTimes times = simulate(row.order->build(shapeTaken(row)), row.shape.costs);
    EXPECT_EQ(times.stuck, std::nullopt);
    EXPECT_LE(static_cast<double>(times.makespan), row.makespan);
    EXPECT_LE(static_cast<double>(most(times.span)), row.span);
    EXPECT_LE(most(times.peakLive), row.peak);
  }
  EXPECT_EQ(rows.size(), 10U);
}

TEST(Searched, SqueezedBlocksEqualTheirMakersTables) {
  int equal = 0;
  for (const MetricsRow &row : zeroBubbleMetrics())
    if (row.shape.costs == UnitCosts{} && !row.order->takes.memory) {
      EXPECT_EQ(inZeroBubbleNotation(row.order->build(row.shape)), zeroBubbleTable(row.file));
      ++equal;
    }
  EXPECT_EQ(equal, 8); // 4 V-Half, 4 V-Min
}

} // namespace
} // namespace vime
