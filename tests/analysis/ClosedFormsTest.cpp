// Simulated plans against what the papers say of their orders (bubble and peak as formulas), and
// against what other makers measured of their tables.
#include "compiler/Analysis/Simulate.h"
#include "compiler/Analysis/StepBody.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Lowering/OrderPlan.h"
#include "runtime/Plan/Mesh.h"
#include "schedules/OrderTable.h"
#include "schedules/Registry.h"
#include "schedules/SlotsForCosts.h"

#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace vime {
namespace {

using plan::Opcode;

/// Activations alive on the fullest rank, stage × microbatch: counted along its program.
int peakOf(const verify::ActionTable &table, const verify::RankView &rank) {
  int alive = 0, most = 0;
  const auto [first, end] = stepEntriesOf(rank);
  for (std::uint32_t entry = first; entry < end; ++entry)
    switch (static_cast<Opcode>(table.action(rank, entry).opcode)) {
    case Opcode::Forward:
      most = std::max(most, ++alive);
      break;
    case Opcode::Backward:
    case Opcode::BackwardWeight:
      --alive;
      break;
    default:
      break;
    }
  return most;
}

struct Figures {
  double period = 0, bubble = 0;
  std::vector<int> peaks; // by rank
};

Figures figuresOf(const plan::Plan &plan, UnitCosts costs, std::uint32_t steps = 3) {
  const verify::ActionTable table(plan, steadyStepOf(plan));
  const Simulated run = simulate(table, unitDurations(plan, costs), steps);
  EXPECT_FALSE(run.stuck) << *run.stuck;
  Figures figures{double(run.period) / kUnit, reportOf(table, run).bubble, {}};
  for (const verify::RankView &rank : table.ranks())
    figures.peaks.push_back(peakOf(table, rank));
  return figures;
}

/// Costs of one stage and one microbatch.
struct Shape {
  int p, m, v;
  UnitCosts costs;
  int pass() const { return costs.forward + costs.backwardInput + costs.backwardWeight; }
  int busy() const { return m * v * pass(); }
};

/// In costs of a stage: where the papers have those of a rank's whole share, v times as much.
struct Form {
  std::string_view order;
  int chunks;
  bool (*holds)(const Shape &);
  int (*bubble)(const Shape &); // of a rank in a step with a barrier
  int (*peak)(const Shape &);   // of the fullest rank
};

bool always(const Shape &) { return true; }
bool isFull(const Shape &shape) { return shape.m % shape.p == 0; }
bool isLong(const Shape &shape) { return shape.m >= 2 * shape.p - 1; }
bool isUnit(const Shape &shape) { return shape.costs == UnitCosts{}; }
int onePass(const Shape &shape) { return (shape.p - 1) * shape.pass(); }

const Form kForms[] = {
    // (p-1)(F+B), all microbatches alive: Huang et al. 2018.
    {"gpipe", 1, always, onePass, [](const Shape &shape) { return shape.m; }},
    // The same bubble, p alive: Narayanan et al. 2021, Fan et al. 2020.
    {"1f1b", 1, always, onePass, [](const Shape &shape) { return std::min(shape.p, shape.m); }},
    // (p-1)(F+B)/v of the whole share, 2(p-1) + (v-1)p + 1 chunks alive: Narayanan et al. 2021.
    {"interleaved", 2, isFull, onePass,
     [](const Shape &shape) {
       return std::min(2 * (shape.p - 1) + (shape.v - 1) * shape.p + 1, shape.m * shape.v);
     }},
    {"interleaved", 4, isFull, onePass,
     [](const Shape &shape) {
       return std::min(2 * (shape.p - 1) + (shape.v - 1) * shape.p + 1, shape.m * shape.v);
     }},
    // (p-1)(F+I-W), p alive: Qi et al. 2023.
    {"zb-h1", 1, [](const Shape &shape) { return shape.m >= shape.p; },
     [](const Shape &shape) {
       return (shape.p - 1) *
              (shape.costs.forward + shape.costs.backwardInput - shape.costs.backwardWeight);
     },
     [](const Shape &shape) { return shape.p; }},
    // None but the way of the first forward, 2p-1 alive.
    {"zb-h2", 1, [](const Shape &shape) { return isLong(shape) && isUnit(shape); },
     [](const Shape &shape) { return shape.p - 1; },
     [](const Shape &shape) { return 2 * shape.p - 1; }},
    // Likewise with two stages a rank, p whole shares alive: Qi et al. 2024.
    {"zb-v", 2, [](const Shape &shape) { return isLong(shape) && isUnit(shape); },
     [](const Shape &shape) { return shape.p - 1; },
     [](const Shape &shape) { return 2 * shape.p; }},
    // p+1 alive, of two copies. Pairs are no longer than their tasks, and what the first of the two
    // makes goes on its way before the second one ends: the bubble is half of (p/2-1)(F&B + B -
    // 3W).
    {"dualpipe", 1,
     [](const Shape &shape) {
       return shape.p % 2 == 0 && shape.m % 2 == 0 && shape.m >= 2 * shape.p && isUnit(shape);
     },
     [](const Shape &shape) { return shape.p / 2 - 1; },
     [](const Shape &shape) { return shape.p + 1; }},
    // The same of one copy on half the ranks: 2p+1 chunks alive.
    {"dualpipe-v", 2, [](const Shape &shape) { return shape.m >= 2 * shape.p && isUnit(shape); },
     [](const Shape &shape) { return shape.p - 1; },
     [](const Shape &shape) { return 2 * shape.p + 1; }}};

TEST(ClosedForms, PlansHaveTheBubblesAndPeaksOfTheirOrders) {
  std::map<std::string_view, int> held;
  for (const Form &form : kForms)
    for (const int ranks : {2, 3, 4, 6, 8})
      for (const int microbatches : {2, 4, 7, 8, 12, 16, 24})
        for (const UnitCosts costs : {UnitCosts{}, UnitCosts{10, 12, 8}, UnitCosts{3, 5, 2}}) {
          const Shape shape{ranks, microbatches, form.chunks, costs};
          const Order &order = *findOrder(form.order);
          const ScheduleShape wanted{
              .ranks = ranks, .microbatches = microbatches, .chunks = form.chunks};
          if (!form.holds(shape) || check(order, wanted))
            continue;
          Findings findings;
          const auto plan =
              planOfOrder(order.build(wanted), microbatches, "order.csv", {}, findings);
          ASSERT_TRUE(plan) << form.order;
          const Figures figures = figuresOf(*plan, costs, 1);
          const std::string which = std::string(form.order) + " " + std::to_string(ranks) + "x" +
                                    std::to_string(microbatches) + " F " +
                                    std::to_string(costs.forward);
          const int bubble = form.bubble(shape);
          EXPECT_EQ(figures.period, shape.busy() + bubble) << which;
          EXPECT_NEAR(figures.bubble, double(bubble) / (shape.busy() + bubble), 1e-9) << which;
          EXPECT_EQ(*std::ranges::max_element(figures.peaks), form.peak(shape)) << which;
          ++held[form.order];
        }
  EXPECT_EQ(held.size(), 8U);
  for (const auto &[order, count] : held)
    EXPECT_GE(count, 4) << order;
}

// Without a barrier nothing is left of the bubbles of ZB-H2 and ZB-V, and nothing changes for 1F1B.
TEST(ClosedForms, StepsWithoutABarrierHaveNoBubbleAtAll) {
  for (const auto &[schedule, chunks, bubble] :
       {std::tuple("zb-h2", 1U, 0), {"zb-v", 2U, 0}, {"1f1b", 1U, 9}}) {
    const plan::Plan plan = lowered({.schedule = schedule,
                                     .ranks = 4,
                                     .microbatches = 12,
                                     .chunks = chunks,
                                     .layers = 8,
                                     .runsEarly = true});
    const Figures figures = figuresOf(plan, {}, 5);
    EXPECT_EQ(figures.period, 12 * 3 * int(chunks) + bubble) << schedule;
  }
}

// ---- what others measured --------------------------------------------------------------------

using Row = std::map<std::string, std::string>;

std::string contents(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Row> rowsOf(const std::string &file) {
  std::istringstream lines(
      contents(std::filesystem::path(VIME_GOLDEN_ORDERS) / "zero-bubble" / file));
  const auto cells = [](const std::string &line) {
    std::vector<std::string> list;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');)
      list.push_back(cell);
    return list;
  };
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells(line);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> values = cells(line);
    Row row;
    for (std::size_t column = 0; column < values.size(); ++column)
      row[names[column]] = values[column];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string text(const std::vector<int> &numbers) {
  std::string list;
  for (const int number : numbers)
    list += (list.empty() ? "" : " ") + std::to_string(number);
  return list;
}

/// Orders whose messages come so early that the two slots of a channel are full, so that senders
/// wait: they are as long as was measured only where a message needs no place.
constexpr std::string_view kHeldBack[] = {"zbpp_gint8_p8_m16_v2.csv", "zbpp_gint8_p8_m16_v4.csv",
                                          "megatron_int_p4_m8_v2_g8.csv"};

/// Makespan, bubble and the peak of every rank, as they stand in the row.
void expectAsMeasured(const Row &row, const char *bubble, const char *peaks) {
  const std::string name = row.at("file");
  const auto read =
      readTable(contents(std::filesystem::path(VIME_GOLDEN_ORDERS) / "zero-bubble" / name));
  ASSERT_TRUE(std::holds_alternative<OrderTable>(read)) << name;
  const Schedule order = std::get<OrderTable>(read).schedule();
  const int microbatches = std::stoi(row.at("m"));
  const bool isUneven = name.find("f10b12w8") != name.npos;
  const UnitCosts costs = isUneven ? UnitCosts{10, 12, 8} : UnitCosts{};
  Findings findings;
  const auto plan = planOfOrder(order, microbatches, name, {}, findings);
  ASSERT_TRUE(plan) << name;
  const Figures figures = figuresOf(*plan, costs, 1);
  EXPECT_EQ(text(figures.peaks), row.at(peaks)) << name;
  if (std::ranges::find(kHeldBack, name) != std::end(kHeldBack)) {
    EXPECT_EQ(figures.period, timeWithSlots(order, microbatches, costs, {{2}})) << name;
    EXPECT_EQ(double(*timeWithSlots(order, microbatches, costs, {{microbatches}})),
              std::stod(row.at("makespan")))
        << name;
    return;
  }
  EXPECT_EQ(figures.period, std::stod(row.at("makespan"))) << name;
  EXPECT_NEAR(figures.bubble, std::stod(row.at(bubble)), 1e-4) << name;
}

TEST(ClosedForms, TablesOfTheZeroBubbleFamilyTakeWhatTheirMakersMeasured) {
  int compared = 0;
  for (const Row &row : rowsOf("metrics-zbpp.csv"))
    if (row.at("schedule") != "seq1f1b") { // slices are in no table
      expectAsMeasured(row, "bubble_of_makespan", "peak_chunks_per_rank");
      ++compared;
    }
  EXPECT_GT(compared, 30);
}

TEST(ClosedForms, TablesOfMegatronTakeWhatTheirMakersMeasured) {
  for (const Row &row : rowsOf("metrics-megatron.csv"))
    expectAsMeasured(row, "bubble", "per_rank");
}

} // namespace
} // namespace vime
