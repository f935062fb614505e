// S3 and S1 of an order: every stage is on one rank; it runs every microbatch forward once, and
// backward once, whole or in two parts.
#include <fmt/format.h>

#include "compiler/Verify/OrderCells.h"

namespace vime::verify {
namespace {

// "microbatches 3, 4 and 7"; of many the first ones.
class Numbers {
public:
  void add(int number) {
    if (++count <= kListed)
      list.push_back(number);
  }
  bool any() const { return count > 0; }
  int first() const { return list.front(); }
  std::string text(std::string_view noun, std::string_view ending) const {
    std::string all = fmt::format("{}{} {}", noun, count == 1 ? "" : ending, list.front());
    for (std::size_t index = 1; index < list.size(); ++index)
      all += (index + 1 == static_cast<std::size_t>(count) ? " and " : ", ") +
             std::to_string(list[index]);
    return count > kListed ? fmt::format("{} and {} more", all, count - kListed) : all;
  }

private:
  static constexpr int kListed = 8;
  int count = 0;
  std::vector<int> list;
};

/// A cell of the stage to point at, of whatever kind.
CellIndex anyCellOf(const OrderCells &cells, int stage) {
  for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
    if (cells[cell].stage == stage)
      return cell;
  return 0;
}

class Completeness {
public:
  Completeness(const OrderCells &cells, OrderVerdict &verdict) : cells(cells), verdict(verdict) {}

  void run() {
    judgeDoubles();
    judgeCopies();
    if (!anyTask(CellKind::Backward) && !anyTask(CellKind::BackwardInput))
      return noBackward();
    findMicrobatches();
    for (int stage = 0; stage < cells.stages; ++stage)
      if (cells.rankOfStage(stage) >= 0)
        judgeStage(stage);
  }

private:
  bool anyTask(CellKind kind) const {
    for (int stage = 0; stage < cells.stages; ++stage)
      for (int microbatch = 0; microbatch < cells.microbatches; ++microbatch)
        if (cells.find(kind, stage, microbatch) != kNoCell)
          return true;
    return false;
  }

  void noBackward() {
    verdict
        .error(Rule::S1, 1, 0,
               "the table holds forwards only, and a training step runs backward too")
        .withHelp("tables of a forward pass alone, as of an evaluation, cannot be trained with");
  }

  void judgeDoubles() {
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell) {
      const auto &[kind, stage, microbatch, place, isPaired, isGrouped] = cells[cell];
      if (!isTask(kind))
        continue;
      const CellIndex before = cells.find(kind, stage, microbatch);
      if (before != cell) {
        verdict
            .error(Rule::S1, 2, cell, verdict.name(cell) + " stands twice in the table",
                   "a second time")
            .note("the first one is here", verdict.span(before));
        continue;
      }
      if (kind != CellKind::Backward)
        continue;
      for (const CellKind part : {CellKind::BackwardInput, CellKind::BackwardWeight})
        if (const CellIndex other = cells.find(part, stage, microbatch); other != kNoCell) {
          verdict
              .error(Rule::S1, 3, cell,
                     fmt::format("stage {} runs the backward of microbatch {} whole and in parts",
                                 stage, microbatch),
                     "the whole one")
              .note("a part of it", verdict.span(other))
              .withHelp("`B` is the whole backward where `I` stands anywhere in the table, as in "
                        "PyTorch since 2.6; an input gradient is `I`");
          break;
        }
    }
  }

  void judgeCopies() {
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell) {
      const TableEntry &task = cells[cell];
      if (isTask(task.kind) && cells.copyOf(task.stage) != cells.copyFor(task.microbatch))
        verdict.error(Rule::S1, 11, cell,
                      fmt::format("{} is of copy {} of the model, and microbatch {} passes through "
                                  "copy {}",
                                  verdict.name(cell), cells.copyOf(task.stage), task.microbatch,
                                  cells.copyFor(task.microbatch)));
    }
  }

  // A microbatch that no task names is missing as a whole; a step counts from 0.
  void findMicrobatches() {
    Numbers absent;
    present.assign(static_cast<std::size_t>(cells.microbatches), false);
    CellIndex last = kNoCell; // a task of the last microbatch that has any
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
      if (isTask(cells[cell].kind)) {
        present[static_cast<std::size_t>(cells[cell].microbatch)] = true;
        if (last == kNoCell || cells[cell].microbatch > cells[last].microbatch)
          last = cell;
      }
    const int slices = cells.slices; // of the last microbatch all are expected
    for (int microbatch = 0; microbatch < (cells[last].microbatch / slices + 1) * slices;
         ++microbatch)
      if (!present[static_cast<std::size_t>(microbatch)])
        absent.add(microbatch);
    if (absent.any())
      verdict
          .error(Rule::S1, 1, last,
                 fmt::format("no task is of {}", absent.text("microbatch", "es")),
                 "the last microbatch")
          .note("the microbatches of a step count from 0");
  }

  void judgeStage(int stage) {
    Numbers forward, backward, input, weight;
    for (int microbatch = 0; microbatch < cells.microbatches; ++microbatch) {
      if (!present[static_cast<std::size_t>(microbatch)] ||
          cells.copyFor(microbatch) != cells.copyOf(stage))
        continue;
      const auto has = [&](CellKind kind) {
        return cells.find(kind, stage, microbatch) != kNoCell;
      };
      if (!has(CellKind::Forward))
        forward.add(microbatch);
      if (has(CellKind::Backward))
        continue;
      if (!has(CellKind::BackwardInput) && !has(CellKind::BackwardWeight))
        backward.add(microbatch);
      else if (!has(CellKind::BackwardInput))
        input.add(microbatch);
      else if (!has(CellKind::BackwardWeight))
        weight.add(microbatch);
    }
    lacks(stage, forward, "forward");
    lacks(stage, backward, "backward");
    lacks(stage, input, "input gradient");
    lacks(stage, weight, "weight gradient");
  }

  void lacks(int stage, const Numbers &microbatches, std::string_view what) {
    if (!microbatches.any())
      return;
    verdict.error(Rule::S1, 1, nearest(stage, microbatches.first()),
                  fmt::format("stage {} never runs the {} of {}", stage, what,
                              microbatches.text("microbatch", "es")),
                  fmt::format("the rank of stage {}", stage));
  }

  /// Another task of the microbatch, or else the stage's first cell.
  CellIndex nearest(int stage, int microbatch) const {
    for (const CellKind kind :
         {CellKind::Forward, CellKind::BackwardInput, CellKind::Backward, CellKind::BackwardWeight})
      if (const CellIndex cell = cells.find(kind, stage, microbatch); cell != kNoCell)
        return cell;
    return anyCellOf(cells, stage);
  }

  const OrderCells &cells;
  OrderVerdict &verdict;
  std::vector<bool> present; // by microbatch
};

} // namespace

void verifyTasksOfOrder(const OrderCells &cells, OrderVerdict &verdict) {
  Completeness(cells, verdict).run();
}

void verifyStagesOfOrder(const OrderCells &cells, OrderVerdict &verdict) {
  Numbers absent;
  for (int stage = 0; stage < cells.stages; ++stage)
    if (cells.rankOfStage(stage) < 0)
      absent.add(stage);
  if (absent.any())
    verdict.error(Rule::S3, 21, anyCellOf(cells, cells.stages - 1),
                  fmt::format("no rank runs {}", absent.text("stage", "s")), "the last stage");
  std::vector<bool> told(static_cast<std::size_t>(cells.stages * cells.ranks));
  for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell) {
    const int stage = cells[cell].stage, rank = cells.rankOf(cell);
    if (stage < 0 || cells.rankOfStage(stage) < 0 || cells.rankOfStage(stage) == rank)
      continue;
    // Once for each rank that has some of the stage: what follows only repeats it.
    auto known = told[static_cast<std::size_t>(stage * cells.ranks + rank)];
    if (known)
      continue;
    known = true;
    CellIndex home = cells.begin(cells.rankOfStage(stage));
    while (cells[home].stage != stage || !isTask(cells[home].kind))
      ++home;
    verdict
        .error(Rule::S3, 20, cell,
               fmt::format("{} is on rank {}, but stage {} is on rank {}", verdict.name(cell), rank,
                           stage, cells.rankOfStage(stage)),
               fmt::format("the row of rank {}", rank))
        .note("the stage is here", verdict.span(home));
  }
}

} // namespace vime::verify
