#include "compiler/Verify/VerifyOrder.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/Verify/OrderCells.h"
#include "schedules/Limits.h"

namespace vime {

using namespace verify;

namespace {

// Forwards of a complete table; so many that no order could be, where numbers are typed wrong.
bool isTooLarge(const OrderTable &table, const std::string &file, Findings &findings) {
  const std::int64_t forwards = std::int64_t{table.stages()} * table.microbatches();
  if (0 < forwards && forwards <= kMaxForwards)
    return false;
  findings
      .error(Rule::S3, 4,
             forwards == 0
                 ? "the table holds no task"
                 : fmt::format("{} stages of {} microbatches are {} forwards, at most {} can be",
                               table.stages(), table.microbatches(), forwards, kMaxForwards))
      .at({file, 1, 1});
  return true;
}

} // namespace

void verifyOrder(const OrderTable &table, const std::string &file, Findings &findings) {
  if (isTooLarge(table, file, findings))
    return;
  const OrderCells cells(table);
  OrderVerdict verdict(cells, findings, file);
  verifyStagesOfOrder(cells, verdict);
  verifyTasksOfOrder(cells, verdict);
  verifyDependencesOfOrder(cells, verdict);
  if (cells.hasTransfers)
    verifyTransfersOfOrder(cells, verdict);
  if (cells.hasShards)
    verifyShardsOfOrder(cells, verdict);
  verdict.close();
}

std::vector<ProvedOfOrder> provedOfOrder(const OrderTable &table) {
  std::vector<ProvedOfOrder> proved{
      {Rule::S3, "each stage is on exactly one rank"},
      {Rule::S1, "each stage runs every microbatch forward and backward exactly once"},
      {Rule::S2, "no task stands before one that it needs, in its row or around a circle of rows"}};
  bool hasTransfers = false, hasShards = false;
  for (const std::vector<TableEntry> &row : table.rows)
    for (const TableEntry &entry : row) {
      hasTransfers |= isTransfer(entry.kind);
      hasShards |= entry.kind > CellKind::ReceiveBackward;
    }
  if (hasTransfers)
    proved.push_back({Rule::C1,
                      "its transfers are those that its tasks need, each at a place where "
                      "it can be"});
  if (hasShards)
    proved.push_back({Rule::S4, "parameters are there when tasks run, gradients are reduced once "
                                "after the last of them"});
  return proved;
}

std::vector<int> stagesThatSumOutOfOrder(const Schedule &order) {
  std::map<int, int> last; // by stage
  std::set<int> stages;
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardWeight) {
        const auto [known, isFirst] = last.try_emplace(task.stage, task.microbatch);
        if (!isFirst && task.microbatch < known->second)
          stages.insert(task.stage);
        known->second = task.microbatch;
      }
  return {stages.begin(), stages.end()};
}

} // namespace vime
