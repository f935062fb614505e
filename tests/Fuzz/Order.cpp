// Fuzz target `order`: a table of an order, in any dialect of PyTorch's notation or with chunks.
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Lowering/OrderPlan.h"
#include "compiler/Verify/Verify.h"
#include "compiler/Verify/VerifyOrder.h"
#include "schedules/Notation.h"
#include "schedules/TorchLowering.h"
#include "tests/Fuzz/Target.h"
#include "tests/schedules/GoldenTables.h"

namespace vime::fuzz {
namespace {

constexpr const char *kFile = "order.csv";
/// Beyond, a plan costs more time than it teaches.
constexpr std::size_t kMostTasks = 400;

std::size_t tasksOf(const Schedule &order) {
  std::size_t tasks = 0;
  for (const std::vector<Task> &row : order.rows)
    tasks += row.size();
  return tasks;
}

void readsBack(const Schedule &order) {
  const auto again = readTable(toCsv(order));
  must(std::holds_alternative<OrderTable>(again), "a legal order as text is a table");
  must(std::get<OrderTable>(again).schedule().placement == order.placement,
       "a legal order as text has the same placement");
}

/// What PyTorch's lowering makes of a legal order is legal.
void isLowered(const Schedule &order) {
  for (const OrderTable &lowered : {withTransfers(order), withShards(order)}) {
    Findings findings;
    verifyOrder(lowered, kFile, findings);
    must(!findings.any(), "a lowered order is legal");
  }
}

/// The same cells as those of two copies of a model, or of slices: judged like any other, and what
/// is legal comes to its end.
void isJudgedInParts(std::string_view bytes) {
  auto read = readTable(bytes);
  auto *table = std::get_if<OrderTable>(&read);
  for (const auto &[copies, slices] : {std::pair(2, 1), {1, 2}, {1, 3}, {2, 2}}) {
    if (!table || table->stages() % copies != 0)
      continue;
    table->copies = copies;
    table->slices = slices;
    Findings findings;
    verifyOrder(*table, kFile, findings);
    const bool isStuck = simulate(table->schedule()).stuck.has_value();
    must(findings.any() || !isStuck, "a legal order of copies or slices comes to its end");
  }
}

/// A legal order becomes a plan that every judge accepts.
void compiles(const OrderTable &table, const SourceCache &sources) {
  const Schedule order = table.schedule();
  must(!simulate(order).stuck, "a legal order comes to its end");
  (void)toGrid(order);
  (void)toTimeline(order);
  readsBack(order);
  isLowered(order);
  must(std::holds_alternative<OrderTable>(readTable(toCsv(table))),
       "a legal table in today's notation is a table");
  (void)standstillAsWritten(table);
  if (!beyondTorch(order))
    must(standstillAsWritten(withTransfers(order)).empty(),
         "a table with both ends of each message written at once comes to its end");
  if (tasksOf(order) > kMostTasks || order.placement.size() > 64 || table.microbatches() > 64)
    return;
  Findings findings;
  const auto plan = planOfOrder(order, table.microbatches(), kFile, {}, findings);
  must(plan.has_value() != findings.any(), "an order has a plan or a reason");
  if (plan)
    verifyPlan(*plan, findings, kFile);
  must(!plan || !findings.any(), renderText(findings, sources));
}

} // namespace

void eat(std::string_view bytes) {
  SourceCache sources;
  sources.add(kFile, std::string(bytes));
  Findings findings;
  const std::optional<OrderTable> table = judgedTable(bytes, kFile, findings);
  must(table.has_value() != findings.any(), "a table is legal or something is wrong with it");
  (void)renderText(findings, sources);
  (void)renderJson(findings, sources);
  isJudgedInParts(bytes);
  if (table)
    compiles(*table, sources);
}

std::vector<std::string> seeds() {
  constexpr std::size_t kLongest = 1000;
  std::vector<std::string> texts{
      // Chunks instead of stages: down the ranks and back, in pairs; groups of transfers.
      "F0.0,F0.1,BW0.1,F1.0,BW0.0,F1.1,BW1.1,BW1.0\nF0.0,F0.1,F1.0,[F1.1&BW0.1],BW0.0,B1.1,W1.1,"
      "BW1.0",
      "F0.0,{SF0.0},F1.0,{SF1.0+RB0.0},B0.0,W0.0,{RB1.0},BW1.0\n{RF0.0},F0.0,{RF1.0},[F1.0&BW0.0],"
      "{SB0.0},BW1.0,{SB1.0}"};
  for (const GoldenTable &table : goldenTables())
    if (table.text.size() <= kLongest)
      texts.push_back(table.text);
  return texts;
}

} // namespace vime::fuzz
