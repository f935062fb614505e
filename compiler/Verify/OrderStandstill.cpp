// Whether a table would finish as it is written: each rank runs its row cell by cell, a send lasts
// until it is received, transfers of one group start together. What tasks need is there when their
// receives are over (a table without findings), so tasks never wait.
#include <algorithm>

#include "compiler/Verify/OrderCells.h"
#include "compiler/Verify/VerifyOrder.h"

namespace vime {

using namespace verify;

namespace {

class AsWritten {
public:
  explicit AsWritten(const OrderCells &cells) : cells(cells), isOver(cells.end(cells.ranks - 1)) {
    for (int rank = 0; rank < cells.ranks; ++rank)
      next.push_back(cells.begin(rank));
  }

  void run() {
    while (sweep())
      continue;
  }

  /// Of each rank of a circle the transfer at which it stops.
  std::vector<CellIndex> circle() const {
    std::vector<CellIndex> path;
    for (int rank = 0; rank < cells.ranks && path.empty(); ++rank)
      if (head(rank) != cells.end(rank))
        path = circleFrom(rank);
    return path;
  }

private:
  CellIndex head(int rank) const { return next[static_cast<std::size_t>(rank)]; }

  bool sweep() {
    bool moved = false;
    for (int rank = 0; rank < cells.ranks; ++rank)
      while (head(rank) != cells.end(rank) && pass(rank))
        moved = true;
    return moved;
  }

  /// Whether the rank gets past what it stands at.
  bool pass(int rank) {
    const CellIndex end = endOfGroup(head(rank));
    if (isTransfer(cells[head(rank)].kind))
      for (CellIndex cell = head(rank); cell < end; ++cell)
        meet(cell);
    const bool over = !isTransfer(cells[head(rank)].kind) ||
                      std::all_of(isOver.begin() + head(rank), isOver.begin() + end,
                                  [](bool transfer) { return transfer; });
    next[static_cast<std::size_t>(rank)] = over ? end : head(rank);
    return over;
  }

  CellIndex endOfGroup(CellIndex cell) const {
    while (cells[cell].startsWithNext)
      ++cell;
    return cell + 1;
  }

  /// Both ends are over when both ranks have come to them.
  void meet(CellIndex cell) {
    const CellIndex other = otherEnd(cell);
    const CellIndex peer = head(cells.rankOf(other));
    if (peer <= other && other < endOfGroup(peer) && isTransfer(cells[peer].kind))
      isOver[cell] = isOver[other] = true;
  }

  CellIndex otherEnd(CellIndex cell) const {
    const TableEntry &entry = cells[cell];
    switch (entry.kind) {
    case CellKind::SendForward:
      return cells.find(CellKind::ReceiveForward, entry.stage + 1, entry.microbatch);
    case CellKind::ReceiveForward:
      return cells.find(CellKind::SendForward, entry.stage - 1, entry.microbatch);
    case CellKind::SendBackward:
      return cells.find(CellKind::ReceiveBackward, entry.stage - 1, entry.microbatch);
    default:
      return cells.find(CellKind::SendBackward, entry.stage + 1, entry.microbatch);
    }
  }

  std::vector<CellIndex> circleFrom(int rank) const {
    std::vector<CellIndex> path;
    while (true) {
      const auto seen = std::find_if(path.begin(), path.end(),
                                     [&](CellIndex cell) { return cells.rankOf(cell) == rank; });
      if (seen != path.end())
        return {seen, path.end()};
      CellIndex waiting = head(rank);
      while (isOver[waiting])
        ++waiting;
      path.push_back(waiting);
      rank = cells.rankOf(otherEnd(waiting));
    }
  }

  const OrderCells &cells;
  std::vector<CellIndex> next; // by rank
  std::vector<bool> isOver;    // transfers, by cell
};

} // namespace

std::vector<TableEntry> standstillAsWritten(const OrderTable &table) {
  const OrderCells cells(table);
  std::vector<TableEntry> circle;
  if (!cells.hasTransfers)
    return circle;
  AsWritten run(cells);
  run.run();
  for (const CellIndex cell : run.circle())
    circle.push_back(cells[cell]);
  return circle;
}

} // namespace vime
