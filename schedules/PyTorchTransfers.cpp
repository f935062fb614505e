#include "schedules/PyTorchTransfers.h"
#include "schedules/TorchLowering.h"

namespace vime {

namespace {

using Kind = RowAction::Kind;

bool isForward(const Task &task) { return task.kind == TaskKind::Forward; }

/// PyTorch calls both ends of a message by the stage on their side.
RowAction actionOf(const TableEntry &entry) {
  if (isTask(entry.kind))
    return {Kind::Task,
            {static_cast<TaskKind>(entry.kind), entry.stage, entry.microbatch, entry.overlapsNext}};
  const bool forward =
      entry.kind == CellKind::SendForward || entry.kind == CellKind::ReceiveForward;
  const bool receives =
      entry.kind == CellKind::ReceiveForward || entry.kind == CellKind::ReceiveBackward;
  return {receives ? Kind::Receive : Kind::Send,
          {forward ? TaskKind::Forward : TaskKind::BackwardInput,
           entry.stage + (!receives ? 0
                          : forward ? -1
                                    : 1),
           entry.microbatch}};
}

class Deferral {
public:
  Deferral(const TransferRows &rows, std::size_t rank)
      : rows(rows), rank(static_cast<int>(rank)), row(rows.rows[rank]) {}

  std::vector<RowAction> run() {
    for (std::size_t index = 0; index < row.size(); ++index) {
      const auto &[kind, task] = row[index];
      if (kind == Kind::Receive) {
        held.push_back(row[index]);
        continue;
      }
      if (kind == Kind::Send) {
        const int peer = rows.placement[task.stage + (isForward(task) ? 1 : -1)];
        if (rank < peer)
          release([&](const Task &maker) { return rows.placement[maker.stage] == peer; });
      } else if (!isSecond(index)) {
        releaseFor(task);
        if (task.overlapsNext)
          releaseFor(row[index + 1].task);
      }
      result.push_back(row[index]);
    }
    return std::move(result);
  }

private:
  bool isSecond(std::size_t index) const {
    return index > 0 && row[index - 1].kind == Kind::Task && row[index - 1].task.overlapsNext;
  }

  void releaseFor(const Task &task) {
    if (task.kind == TaskKind::BackwardWeight)
      return;
    const bool forward = isForward(task);
    release([&](const Task &maker) {
      return isForward(maker) == forward && maker.stage == task.stage + (forward ? -1 : 1) &&
             maker.microbatch == task.microbatch;
    });
  }

  template <typename Which> void release(Which which) {
    for (auto receive = held.begin(); receive != held.end();)
      if (which(receive->task)) {
        result.push_back(*receive);
        receive = held.erase(receive);
      } else {
        ++receive;
      }
  }

  const TransferRows &rows;
  const int rank;
  const std::vector<RowAction> &row;
  std::vector<RowAction> held, result;
};

} // namespace

std::optional<TransferRows> transfersAsPyTorch(const Schedule &order, int microbatches) {
  if (beyondTorch(order))
    return std::nullopt;
  TransferRows rows{.placement = order.placement, .microbatches = microbatches};
  for (const std::vector<TableEntry> &line : withTransfers(order).rows) {
    std::vector<RowAction> &row = rows.rows.emplace_back();
    for (const TableEntry &entry : line)
      row.push_back(actionOf(entry));
  }
  return rows;
}

TransferRows deferredReceives(const TransferRows &rows) {
  TransferRows deferred = rows;
  for (std::size_t rank = 0; rank < rows.rows.size(); ++rank)
    deferred.rows[rank] = Deferral(rows, rank).run();
  return deferred;
}

} // namespace vime
