// Orders that are squeezed or searched, beside what the makers of the zero-bubble family get.
#include "schedules/Bounds.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Search/CyclicOrder.h"
#include "schedules/Search/Random.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/GoldenTables.h"
#include "tests/schedules/ParsedOrder.h"

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
  static const std::map<std::string, std::string> kNames{{"zb1p", "zb-1p"},
                                                         {"zb2p", "zb-2p"},
                                                         {"zbv", "zb-v"},
                                                         {"vhalf", "v-half"},
                                                         {"vmin", "v-min"}};
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

// What the order has no use for is for the clock alone. ZB-V is searched only where a memory or
// costs are given.
ScheduleShape shapeTaken(const MetricsRow &row) {
  ScheduleShape shape = row.shape;
  if (row.order->takes.memory)
    shape.memory = row.peak;
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
  EXPECT_EQ(rows.size(), 25U); // 4 shapes of 5 orders, and one of them at other costs
}

TEST(Searched, SqueezedBlocksEqualTheirMakersTables) {
  int equal = 0;
  for (const MetricsRow &row : zeroBubbleMetrics())
    if (row.shape.costs == UnitCosts{} && !row.order->takes.costs) {
      EXPECT_EQ(inZeroBubbleNotation(row.order->build(row.shape)), zeroBubbleTable(row.file));
      ++equal;
    }
  EXPECT_EQ(equal, 8); // 4 V-Half, 4 V-Min
}

constexpr UnitCosts kUneven{.forward = 10, .backwardInput = 12, .backwardWeight = 8};

struct Measured {
  std::int64_t makespan, span;
  int peak;
};

Measured measured(const Schedule &order, UnitCosts costs) {
  const UnitTimes times = simulate(order, costs);
  EXPECT_EQ(times.stuck, std::nullopt);
  return {times.makespan, most(times.span), most(times.peakLive)};
}

Measured measuredVAuto(int ranks, int microbatches, int memory, UnitCosts costs) {
  return measured(orders::vAuto.build({.ranks = ranks,
                                       .microbatches = microbatches,
                                       .chunks = 2,
                                       .memory = memory,
                                       .costs = costs}),
                  costs);
}

// The makers' own search, at the costs it was made for and at others.
TEST(Searched, VAutoIsNotWorseThanTheMakersSearch) {
  for (const auto &[name, microbatches] : {std::pair("zbpp_vauto_p4_m8_mem4", 8),
                                           {"zbpp_vauto_p4_m8_mem6", 8},
                                           {"zbpp_vauto_p6_m12_mem12", 12}})
    for (const UnitCosts costs : {UnitCosts{}, kUneven}) {
      SCOPED_TRACE(testing::Message() << name << ", F " << costs.forward);
      const Schedule golden = parsed(zeroBubbleTable(name));
      const Measured theirs = measured(golden, costs);
      const Measured ours =
          measuredVAuto(static_cast<int>(golden.rows.size()), microbatches, theirs.peak, costs);
      EXPECT_LE(ours.makespan, theirs.makespan);
      EXPECT_LE(ours.span, theirs.span);
      EXPECT_LE(ours.peak, theirs.peak);
    }
}

// As much memory as V-Min has, but for costs that its block does not fit: a tenth off and more.
TEST(Searched, VAutoBeatsVMinAtEqualMemory) {
  for (const auto &[ranks, microbatches] : {std::pair(4, 8), {8, 24}}) {
    const Schedule block =
        orders::vMin.build({.ranks = ranks, .microbatches = microbatches, .chunks = 2});
    const Measured vMin = measured(block, kUneven);
    const Measured vAuto = measuredVAuto(ranks, microbatches, vMin.peak, kUneven);
    EXPECT_LE(vAuto.peak, vMin.peak);
    EXPECT_LT(vAuto.makespan * 10, vMin.makespan * 95 / 10) << ranks;
  }
}

// Under the smallest memory that runs at full rate for equal costs, a microbatch more takes 68: a
// turn of the best cyclic order; V-Min's takes 72.
TEST(Searched, TurnsOfACycleAreShortened) {
  const Measured many = measuredVAuto(4, 40, 4, kUneven), few = measuredVAuto(4, 32, 4, kUneven);
  EXPECT_LE(many.makespan - few.makespan, 8 * 68);
  EXPECT_LE(few.makespan, 2288);
  EXPECT_EQ(few.peak, 4);
}

// By the lower bounds nothing is faster under the same memory.
TEST(Searched, ProvedOptimal) {
  struct Case {
    const Order *order;
    int ranks, microbatches, memory;
    UnitCosts costs;
  };
  for (const auto &[order, ranks, microbatches, memory, costs] :
       {Case{&orders::zeroBubble1P, 8, 24, 8, kUneven},
        Case{&orders::zeroBubble2P, 8, 24, 16, kUneven}, Case{&orders::zeroBubble2P, 8, 16, 16, {}},
        Case{&orders::vAuto, 4, 8, 4, {}}, Case{&orders::vAuto, 8, 16, 10, {}},
        Case{&orders::vAuto, 8, 24, 8, {}}, Case{&orders::vAuto, 16, 64, 12, {}}}) {
    const Schedule built = order->build({.ranks = ranks,
                                         .microbatches = microbatches,
                                         .chunks = order->chunks.usual,
                                         .memory = memory,
                                         .costs = costs});
    const Bounds bounds = boundsOf({.placement = built.placement,
                                    .ranks = ranks,
                                    .microbatches = microbatches,
                                    .memory = memory,
                                    .costs = costs});
    EXPECT_EQ(measured(built, costs).makespan, bounds.makespan.least)
        << order->name << ' ' << ranks << ' ' << microbatches << ' ' << memory;
  }
}

TEST(Searched, MemoryIsKeptWhateverItIs) {
  for (const Order *order : {&orders::zeroBubble1P, &orders::vAuto, &orders::zeroBubbleV})
    for (const int memory : {1, 2, 3, 5}) {
      const ScheduleShape shape{.ranks = 3,
                                .microbatches = 5,
                                .chunks = order->chunks.usual,
                                .memory = memory,
                                .costs = {1, 3, 2, /*transfer=*/4}};
      if (!check(*order, shape)) {
        EXPECT_LE(measured(order->build(shape), shape.costs).peak, memory) << order->name;
      }
    }
}

TEST(Searched, OneShapeHasOneOrder) {
  const ScheduleShape shape{
      .ranks = 4, .microbatches = 6, .chunks = 2, .memory = 5, .costs = kUneven};
  EXPECT_EQ(orders::vAuto.build(shape).rows, orders::vAuto.build(shape).rows);
}

TEST(Searched, AMemoryThatNothingFitsInIsRefused) {
  const auto problem =
      check(orders::vAuto, {.ranks = 4, .microbatches = 8, .chunks = 2, .memory = 1});
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->message, "`v-auto` cannot run with 1 activation: a microbatch has two on a "
                              "rank before its first backward");
  EXPECT_EQ(problem->help, "use no memory or a memory of 2");
  EXPECT_EQ(check(orders::zeroBubbleV, {4, 8, 2, 0, 1})->number, "memory");
  EXPECT_EQ(check(orders::zeroBubble1P, {4, 8, 1, 0, 1}), std::nullopt);
}

// Of V-Min's block: the order comes back, with more microbatches as well; a rank that may hold less
// than it does makes it none.
TEST(CyclicOrder, RepeatsWhatRunsInTheMiddle) {
  const auto flowOfVee = [](int microbatches, int memory) {
    const ScheduleShape shape{.ranks = 4, .microbatches = microbatches, .chunks = 2};
    return flowOf(shape, veePlacement(shape), memory);
  };
  const Flow few = flowOfVee(12, 4), many = flowOfVee(30, 4), tight = flowOfVee(12, 3);
  const Schedule block = orders::vMin.build({.ranks = 4, .microbatches = 12, .chunks = 2});
  const CyclicOrder cycle = cycleOf(kernelOf(few, timingOf(few, block, {})), few);
  EXPECT_EQ(unrolled(few, cycle)->makespan, simulate(block).makespan);
  const Timing longer = unrolled(many, cycle).value();
  EXPECT_EQ(longer.makespan, simulate(block).makespan + 18 * 6);
  EXPECT_EQ(measured(orderOf(many, longer), {}).peak, 4);
  EXPECT_FALSE(unrolled(tight, cycle).has_value());
}

// Whatever the keys are: every pass is started, once, with no more memory than there is, and so is
// every pass of the flow from its end.
TEST(ListScheduling, NoChoiceOfKeysGetsStuck) {
  Random random;
  for (int ranks = 1; ranks <= 6; ++ranks)
    for (int chunks = 1; chunks <= 2; ++chunks)
      for (int memory = chunks; memory <= 5; ++memory) {
        const ScheduleShape shape{.ranks = ranks, .microbatches = 7, .chunks = chunks};
        const Flow flow =
            flowOf(shape, chunks == 1 ? linearPlacement(shape) : veePlacement(shape), memory);
        const Flow backwards = reversed(flow);
        for (int sample = 0; sample < 50; ++sample) {
          Urgency urgency{Times(flow.size())};
          for (std::int64_t &key : urgency.keys)
            key = random.below(100);
          urgency.taste = {random.below(5), 1 + random.below(3), random.below(50)};
          const Timing forwards = listScheduled(flow, urgency);
          EXPECT_LE(measured(orderOf(flow, forwards), {}).makespan, forwards.makespan);
          EXPECT_LE(measured(orderOf(flow, forwards), {}).peak, memory);
          const Timing back = mirrored(backwards, listScheduled(backwards, urgency));
          EXPECT_LE(measured(orderOf(flow, back), {}).peak, memory);
          EXPECT_LE(measured(orderOf(flow, back), {}).makespan, back.makespan);
        }
      }
}

} // namespace
} // namespace vime
