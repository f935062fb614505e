// Three passes, in PyTorch's sequence: gather and drop parameters, reduce gradients, send and
// receive.
#include "schedules/TorchLowering.h"

#include <algorithm>

namespace vime {

namespace {

using Row = std::vector<TableEntry>;

/// How many entries the cell at this position has: a pair two.
std::size_t width(const Row &row, std::size_t position) {
  return row[position].overlapsNext && position + 1 < row.size() ? 2 : 1;
}

Row withoutIdle(const std::vector<Task> &tasks) {
  Row row;
  for (const Task &task : tasks)
    if (task.kind != TaskKind::Idle)
      row.push_back({static_cast<CellKind>(task.kind), task.stage, task.microbatch,
                     /*place=*/{}, task.overlapsNext});
  return row;
}

OrderTable tasksOf(const Schedule &order) {
  OrderTable table;
  for (const std::vector<Task> &row : order.rows) {
    table.rows.push_back(withoutIdle(row));
    table.pairs += static_cast<int>(
        std::count_if(row.begin(), row.end(), [](const Task &task) { return task.overlapsNext; }));
  }
  return table;
}

TableEntry ofStage(CellKind kind, int stage) { return {kind, stage, -1, {}}; }

/// Distinct stages by their next use from the position on, until there are so many. A pair brings
/// both of its own, so there may be one more.
std::vector<int> nextStages(const Row &row, std::size_t position, int window) {
  std::vector<int> stages;
  while (position < row.size() && static_cast<int>(stages.size()) < window)
    for (const std::size_t end = position + width(row, position); position < end; ++position)
      if (std::find(stages.begin(), stages.end(), row[position].stage) == stages.end())
        stages.push_back(row[position].stage);
  return stages;
}

Row gathered(const Row &row, int window) {
  Row result;
  std::vector<int> there; // stages whose parameters are, ascending
  for (std::size_t position = 0; position < row.size();) {
    const std::vector<int> next = nextStages(row, position, window);
    std::erase_if(there, [&](int stage) {
      const bool leaves = std::find(next.begin(), next.end(), stage) == next.end();
      if (leaves)
        result.push_back(ofStage(CellKind::Reshard, stage));
      return leaves;
    });
    for (const int stage : next)
      if (!std::binary_search(there.begin(), there.end(), stage)) {
        result.push_back(ofStage(CellKind::Unshard, stage));
        there.insert(std::lower_bound(there.begin(), there.end(), stage), stage);
      }
    for (const std::size_t end = position + width(row, position); position < end; ++position)
      result.push_back(row[position]);
  }
  for (const int stage : there)
    result.push_back(ofStage(CellKind::Reshard, stage));
  return result;
}

Row reduced(const Row &row, int stages, int microbatches) {
  Row result;
  std::vector<int> gradients(static_cast<std::size_t>(stages)); // of weights, by stage
  for (std::size_t position = 0; position < row.size();) {
    std::vector<int> ended;
    for (const std::size_t end = position + width(row, position); position < end; ++position) {
      const TableEntry &entry = row[position];
      result.push_back(entry);
      const bool isGradient =
          entry.kind == CellKind::Backward || entry.kind == CellKind::BackwardWeight;
      if (isGradient && ++gradients[static_cast<std::size_t>(entry.stage)] == microbatches)
        ended.push_back(entry.stage);
    }
    for (const int stage : ended)
      result.push_back(ofStage(CellKind::ReduceGradients, stage));
  }
  return result;
}

/// Ranks take turns, one cell each. Both ends of a message are written at one moment, so the rows
/// are parts of one sequence.
class Turns {
public:
  Turns(OrderTable table, const Placement &placement)
      : source(std::move(table)), placement(placement), microbatches(source.microbatches()),
        next(source.rows.size()),
        isThere(2 * placement.size() * static_cast<std::size_t>(microbatches)) {}

  OrderTable run() {
    OrderTable result;
    result.rows.resize(source.rows.size());
    result.pairs = source.pairs;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < next.size(); ++rank)
        moved |= takeTurn(rank, result.rows);
    }
    return result;
  }

private:
  static bool isForward(CellKind kind) { return kind == CellKind::Forward; }
  static bool isBackward(CellKind kind) {
    return kind == CellKind::Backward || kind == CellKind::BackwardInput;
  }

  std::size_t rankOf(int stage) const {
    return static_cast<std::size_t>(placement[static_cast<std::size_t>(stage)]);
  }

  /// Whether the stage has what it takes: its input, or the gradient of its output.
  std::vector<bool>::reference has(int stage, bool input, int microbatch) {
    const std::size_t row = 2 * static_cast<std::size_t>(stage) + input;
    return isThere[row * static_cast<std::size_t>(microbatches) +
                   static_cast<std::size_t>(microbatch)];
  }

  bool isReady(const TableEntry &entry) {
    if (isForward(entry.kind))
      return entry.stage == 0 || has(entry.stage, true, entry.microbatch);
    if (isBackward(entry.kind))
      return entry.stage + 1 == static_cast<int>(placement.size()) ||
             has(entry.stage, false, entry.microbatch);
    return true;
  }

  bool takeTurn(std::size_t rank, std::vector<Row> &rows) {
    const Row &row = source.rows[rank];
    if (next[rank] == row.size())
      return false;
    const std::size_t begin = next[rank], end = begin + width(row, begin);
    for (std::size_t position = begin; position < end; ++position)
      if (!isReady(row[position]))
        return false;
    rows[rank].insert(rows[rank].end(), row.begin() + static_cast<std::ptrdiff_t>(begin),
                      row.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t position = begin; position < end; ++position)
      passOn(rank, row[position], rows);
    next[rank] = end;
    return true;
  }

  void passOn(std::size_t rank, const TableEntry &entry, std::vector<Row> &rows) {
    const bool forward = isForward(entry.kind);
    const int taker = entry.stage + (forward ? 1 : -1);
    if ((!forward && !isBackward(entry.kind)) || taker < 0 ||
        taker == static_cast<int>(placement.size()))
      return;
    has(taker, forward, entry.microbatch) = true;
    if (rankOf(taker) == rank)
      return; // handed over where it is
    rows[rank].push_back({forward ? CellKind::SendForward : CellKind::SendBackward,
                          entry.stage,
                          entry.microbatch,
                          {}});
    rows[rankOf(taker)].push_back({forward ? CellKind::ReceiveForward : CellKind::ReceiveBackward,
                                   taker,
                                   entry.microbatch,
                                   {}});
  }

  const OrderTable source;
  const Placement &placement;
  const int microbatches;
  std::vector<std::size_t> next; // by rank
  std::vector<bool> isThere;     // by stage, gradient or input, and microbatch
};

OrderTable withMessages(OrderTable table, const Schedule &order) {
  OrderTable result = Turns(std::move(table), order.placement).run();
  placeCells(result);
  return result;
}

} // namespace

std::optional<std::string> beyondTorch(const Schedule &order) {
  if (order.copies > 1)
    return "the order runs two copies of the model, and in PyTorch a stage is on one rank";
  if (order.slices > 1)
    return "the order cuts the sequences of microbatches into slices, and PyTorch's tasks are of "
           "whole microbatches";
  return std::nullopt;
}

OrderTable withTransfers(const Schedule &order) { return withMessages(tasksOf(order), order); }

OrderTable withShards(const Schedule &order, int window) {
  OrderTable table = tasksOf(order);
  const int microbatches = table.microbatches();
  for (Row &row : table.rows)
    row = reduced(gathered(row, window), static_cast<int>(order.placement.size()), microbatches);
  return withMessages(std::move(table), order);
}

} // namespace vime
