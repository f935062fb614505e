// OrderCells: the cells of a table by what they ask for, and where the judges of orders put what
// they find.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "schedules/OrderTable.h"

namespace vime::verify {

/// A cell: its number in the table, row by row.
using CellIndex = std::uint32_t;
inline constexpr CellIndex kNoCell = 0xFFFFFFFFu;

/// The first cell of each kind, stage and microbatch. For tables of a size that can be judged.
class OrderCells {
public:
  explicit OrderCells(const OrderTable &table);

  /// Whole copies of the model and whole microbatches: of what the table begins, all is expected.
  const int ranks, copies, slices, stages, microbatches;
  bool hasTransfers = false, hasShards = false;

  CellIndex begin(int rank) const { return starts[static_cast<std::size_t>(rank)]; }
  CellIndex end(int rank) const { return starts[static_cast<std::size_t>(rank) + 1]; }
  const TableEntry &operator[](CellIndex cell) const { return *entries[cell]; }
  int rankOf(CellIndex cell) const { return entries[cell]->place.line - 1; }

  /// Of tasks and transfers; kNoCell if there is none.
  CellIndex find(CellKind kind, int stage, int microbatch) const;
  /// The task that passes a gradient on: the input gradient, or the whole backward.
  CellIndex gradient(int stage, int microbatch) const;
  /// The rank of the stage's first task; -1: it has none.
  int rankOfStage(int stage) const { return rankOfStages[static_cast<std::size_t>(stage)]; }
  /// The copy of the model that the stage belongs to.
  int copyOf(int stage) const { return stage / (stages / copies); }
  /// The copy that the microbatch passes through.
  int copyFor(int microbatch) const { return microbatch / slices % copies; }
  /// Whether `neighbour` is a stage of the same copy.
  bool isBeside(int stage, int neighbour) const {
    return 0 <= neighbour && neighbour < stages && copyOf(neighbour) == copyOf(stage);
  }
  /// Whether what `stage` makes goes to `neighbour` by a message.
  bool sends(int stage, int neighbour) const;

  /// Calls visit(cell, needed) for each task that a task needs and the table has.
  template <typename Visit> void forEachNeed(CellIndex cell, Visit visit) const;

private:
  std::vector<CellIndex> &table(CellKind kind) { return first[static_cast<std::size_t>(kind)]; }
  std::size_t slot(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) +
           static_cast<std::size_t>(microbatch);
  }

  std::vector<CellIndex> starts; // by rank, and the end
  std::vector<const TableEntry *> entries;
  std::vector<CellIndex> first[9]; // by kind up to ReceiveBackward: by slot; empty: no such cell
  std::vector<int> rankOfStages;
};

template <typename Visit> void OrderCells::forEachNeed(CellIndex cell, Visit visit) const {
  const auto &[kind, stage, microbatch, place, isPaired, isGrouped] = (*this)[cell];
  const auto needs = [&](CellIndex needed) {
    if (needed != kNoCell)
      visit(cell, needed);
  };
  const int slice = microbatch % slices;
  if (kind == CellKind::Forward) {
    if (isBeside(stage, stage - 1))
      needs(find(CellKind::Forward, stage - 1, microbatch));
    if (slice > 0)
      needs(find(CellKind::Forward, stage, microbatch - 1));
  }
  if (kind == CellKind::Backward || kind == CellKind::BackwardInput) {
    needs(find(CellKind::Forward, stage, microbatch));
    if (isBeside(stage, stage + 1))
      needs(gradient(stage + 1, microbatch));
    if (slice + 1 < slices)
      needs(gradient(stage, microbatch + 1));
  }
  if (kind == CellKind::BackwardWeight)
    needs(find(CellKind::BackwardInput, stage, microbatch));
}

/// A few findings of each code are shown, the rest is counted.
class OrderVerdict {
public:
  static constexpr int kShown = 5; // findings of one code

  OrderVerdict(const OrderCells &cells, Findings &findings, std::string file)
      : cells(cells), findings(findings), file(std::move(file)) {}

  /// A finding about a cell, with its place.
  Finding &error(Rule rule, int number, CellIndex cell, std::string message,
                 std::string label = {});
  SourceSpan span(CellIndex cell) const;
  /// `2F0` in backticks.
  std::string name(CellIndex cell) const;
  static std::string name(CellKind kind, int stage, int microbatch);
  /// Says on the last finding of each code how many more there were.
  void close();

private:
  struct Counter {
    Rule rule;
    int number;
    int found;
    Finding *last;
  };
  const OrderCells &cells;
  Findings &findings;
  const std::string file;
  std::vector<Counter> counters;
  Finding unseen; // beyond kShown
};

// One judge a file. Each passes over what another one reports.
void verifyStagesOfOrder(const OrderCells &cells, OrderVerdict &verdict);      // S3
void verifyTasksOfOrder(const OrderCells &cells, OrderVerdict &verdict);       // S1
void verifyDependencesOfOrder(const OrderCells &cells, OrderVerdict &verdict); // S2, C2
void verifyTransfersOfOrder(const OrderCells &cells, OrderVerdict &verdict);   // C1
void verifyShardsOfOrder(const OrderCells &cells, OrderVerdict &verdict);      // S2, S4

} // namespace vime::verify
