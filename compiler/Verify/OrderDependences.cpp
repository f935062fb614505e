// S2 of an order: no task stands before one that it needs, neither in its own row nor around a
// circle of rows. Each rank runs its row one by one (Kahn's algorithm over the ranks); where all of
// them stand still, the ranks that wait for each other are the circle.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/OrderCells.h"

namespace vime::verify {
namespace {

class RankByRank {
public:
  RankByRank(const OrderCells &cells, OrderVerdict &verdict) : cells(cells), verdict(verdict) {
    for (int rank = 0; rank < cells.ranks; ++rank)
      next.push_back(cells.begin(rank));
  }

  void run() {
    judgeRows();
    do {
      while (sweep())
        continue;
    } while (breakCircle());
  }

private:
  // What a rank needs of itself must stand before.
  void judgeRows() {
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
      cells.forEachNeed(cell, [&](CellIndex, CellIndex needed) {
        if (cells.rankOf(needed) == cells.rankOf(cell) && needed > cell)
          verdict
              .error(Rule::S2, 1, cell,
                     fmt::format("{} stands before {}, which it needs", verdict.name(cell),
                                 verdict.name(needed)),
                     "too early")
              .note("what it needs is here", verdict.span(needed));
      });
  }

  bool isDone(CellIndex cell) const {
    return cell < next[static_cast<std::size_t>(cells.rankOf(cell))];
  }

  /// What the cell still waits for on another rank; of its own rank `judgeRows` has spoken.
  CellIndex missing(CellIndex cell) const {
    CellIndex found = kNoCell;
    cells.forEachNeed(cell, [&](CellIndex, CellIndex needed) {
      if (cells.rankOf(needed) != cells.rankOf(cell) && !isDone(needed) && found == kNoCell)
        found = needed;
    });
    return found;
  }

  bool sweep() {
    bool moved = false;
    for (int rank = 0; rank < cells.ranks; ++rank) {
      CellIndex &cell = next[static_cast<std::size_t>(rank)];
      for (; cell < cells.end(rank) && missing(cell) == kNoCell; ++cell)
        moved = true;
    }
    return moved;
  }

  // Whoever is blocked waits for a rank that is blocked too. Reports the circle that the first one
  // leads to and lets its first rank go on, so that what is wrong elsewhere is found as well.
  bool breakCircle() {
    const auto blocked = [&](int rank) {
      return next[static_cast<std::size_t>(rank)] < cells.end(rank);
    };
    int rank = 0;
    while (rank < cells.ranks && !blocked(rank))
      ++rank;
    if (rank == cells.ranks)
      return false;
    std::vector<int> path;
    while (std::find(path.begin(), path.end(), rank) == path.end()) {
      path.push_back(rank);
      rank = cells.rankOf(missing(next[static_cast<std::size_t>(rank)]));
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), rank));
    report(path);
    ++next[static_cast<std::size_t>(path.front())];
    return true;
  }

  void report(const std::vector<int> &circle) {
    const auto head = [&](int rank) { return next[static_cast<std::size_t>(rank)]; };
    const CellIndex first = head(circle.front());
    Finding &finding =
        verdict.error(Rule::C2, 7, first,
                      fmt::format("{} can never run: {} ranks wait for each other in a circle",
                                  verdict.name(first), circle.size()),
                      "waits for " + verdict.name(missing(first)));
    for (const int rank : circle) {
      const CellIndex needed = missing(head(rank));
      const int other = cells.rankOf(needed);
      std::string what = fmt::format("rank {} stops at {}, which needs {}", rank,
                                     verdict.name(head(rank)), verdict.name(needed));
      if (needed != head(other))
        what +=
            fmt::format(", which stands behind {} on rank {}", verdict.name(head(other)), other);
      finding.note(std::move(what), verdict.span(head(rank)));
    }
  }

  const OrderCells &cells;
  OrderVerdict &verdict;
  std::vector<CellIndex> next; // by rank
};

} // namespace

void verifyDependencesOfOrder(const OrderCells &cells, OrderVerdict &verdict) {
  RankByRank(cells, verdict).run();
}

} // namespace vime::verify
