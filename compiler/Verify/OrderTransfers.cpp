// Transfers and shards of an order, where its table holds any: exactly the messages that its tasks
// need, each sent after it is made and received before it is used; parameters that are there when a
// task runs; gradients reduced once, after the last of them.
#include <fmt/format.h>

#include "compiler/Verify/OrderCells.h"

namespace vime::verify {
namespace {

constexpr int kMissing = 20, kDouble = 21, kNeedless = 22, kMisplaced = 23; // of C1

struct TransferRule {
  CellKind kind;
  int neighbour; // the stage at the other end, from here
  bool sends;    // else it receives
  bool isForward;
};

constexpr TransferRule kTransfers[] = {
    {CellKind::SendForward, 1, true, true},
    {CellKind::ReceiveForward, -1, false, true},
    {CellKind::SendBackward, -1, true, false},
    {CellKind::ReceiveBackward, 1, false, false},
};

class Transfers {
public:
  Transfers(const OrderCells &cells, OrderVerdict &verdict) : cells(cells), verdict(verdict) {}

  void run() {
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
      for (const TransferRule &rule : kTransfers)
        if (cells[cell].kind == rule.kind)
          judge(cell, rule);
    for (const TransferRule &rule : kTransfers)
      for (int stage = 0; stage < cells.stages; ++stage)
        if (cells.sends(stage, stage + rule.neighbour))
          for (int microbatch = 0; microbatch < cells.microbatches; ++microbatch)
            expect(rule, stage, microbatch);
  }

private:
  /// The task that makes what is sent, or uses what is received.
  CellIndex task(const TransferRule &rule, int stage, int microbatch) const {
    return rule.isForward ? cells.find(CellKind::Forward, stage, microbatch)
                          : cells.gradient(stage, microbatch);
  }

  void judge(CellIndex cell, const TransferRule &rule) {
    const auto &[kind, stage, microbatch, place, isPaired, isGrouped] = cells[cell];
    if (cells.rankOfStage(stage) != cells.rankOf(cell))
      return; // S3 has said so
    const int other = stage + rule.neighbour;
    if (!cells.sends(stage, other))
      return needless(cell, other);
    const CellIndex maker = task(rule, stage, microbatch),
                    before = cells.find(kind, stage, microbatch);
    if (before != cell)
      verdict
          .error(Rule::C1, kDouble, cell, verdict.name(cell) + " stands twice in the table",
                 "a second time")
          .note("the first one is here", verdict.span(before));
    else if (maker == kNoCell)
      verdict.error(Rule::C1, kNeedless, cell, verdict.name(cell) + " is the transfer of no task");
    else if (rule.sends ? cell < maker : cell > maker)
      verdict
          .error(Rule::C1, kMisplaced, cell,
                 fmt::format("{} stands {} {}, which {} it", verdict.name(cell),
                             rule.sends ? "before" : "behind", verdict.name(maker),
                             rule.sends ? "makes" : "needs"),
                 rule.sends ? "too early" : "too late")
          .note("the task is here", verdict.span(maker));
  }

  void needless(CellIndex cell, int other) {
    const bool exists = cells.isBeside(cells[cell].stage, other);
    verdict.error(Rule::C1, kNeedless, cell,
                  verdict.name(cell) + " is a transfer that nobody needs",
                  exists ? fmt::format("stage {} is on the same rank", other)
                         : fmt::format("there is no stage {}", other));
  }

  void expect(const TransferRule &rule, int stage, int microbatch) {
    const CellIndex maker = task(rule, stage, microbatch);
    if (maker == kNoCell || task(rule, stage + rule.neighbour, microbatch) == kNoCell ||
        cells.find(rule.kind, stage, microbatch) != kNoCell)
      return;
    verdict.error(Rule::C1, kMissing, maker,
                  fmt::format("{} is missing", verdict.name(rule.kind, stage, microbatch)),
                  fmt::format("{} rank {}",
                              rule.sends ? "its result goes to" : "its input comes from",
                              cells.rankOfStage(stage + rule.neighbour)));
  }

  const OrderCells &cells;
  OrderVerdict &verdict;
};

constexpr int kSharded = 20, kReduced = 20; // of S2 and of S4

class Shards {
public:
  Shards(const OrderCells &cells, OrderVerdict &verdict)
      : cells(cells), verdict(verdict), states(static_cast<std::size_t>(cells.stages)) {}

  void run() {
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
      collect(cell);
    for (CellIndex cell = 0; cell < cells.end(cells.ranks - 1); ++cell)
      judge(cell);
  }

private:
  struct State {
    bool isShard = false; // somebody unshards it, so it begins as a shard
    bool isThere = false;
    CellIndex lastGradient = kNoCell, reduced = kNoCell;
  };

  State &stateOf(CellIndex cell) { return states[static_cast<std::size_t>(cells[cell].stage)]; }

  void collect(CellIndex cell) {
    if (cells[cell].kind == CellKind::Unshard)
      stateOf(cell).isShard = true;
    if (cells[cell].kind == CellKind::Backward || cells[cell].kind == CellKind::BackwardWeight)
      stateOf(cell).lastGradient = cell;
  }

  void judge(CellIndex cell) {
    const CellKind kind = cells[cell].kind;
    if (kind == CellKind::Unshard)
      return toggle(cell, true, "gathers parameters that are there already");
    if (kind == CellKind::Reshard)
      return toggle(cell, false, "drops parameters that are not there");
    if (kind == CellKind::ReduceGradients)
      return reduce(cell);
    if (isTask(kind) && stateOf(cell).isShard && !stateOf(cell).isThere)
      verdict.error(Rule::S2, kSharded, cell,
                    fmt::format("{} runs while the parameters of stage {} are sharded away",
                                verdict.name(cell), cells[cell].stage));
  }

  void toggle(CellIndex cell, bool there, std::string_view otherwise) {
    if (stateOf(cell).isThere == there)
      verdict.error(Rule::S2, kSharded, cell, fmt::format("{} {}", verdict.name(cell), otherwise));
    stateOf(cell).isThere = there;
  }

  void reduce(CellIndex cell) {
    State &state = stateOf(cell);
    if (state.reduced != kNoCell)
      verdict
          .error(Rule::S4, kReduced, cell,
                 fmt::format("{} reduces the gradients a second time", verdict.name(cell)))
          .note("the first time is here", verdict.span(state.reduced));
    else if (state.lastGradient == kNoCell || state.lastGradient > cell)
      verdict.error(
          Rule::S4, kReduced, cell,
          fmt::format("{} stands before the last gradient of the stage", verdict.name(cell)),
          "too early");
    state.reduced = cell;
  }

  const OrderCells &cells;
  OrderVerdict &verdict;
  std::vector<State> states; // by stage
};

} // namespace

void verifyTransfersOfOrder(const OrderCells &cells, OrderVerdict &verdict) {
  Transfers(cells, verdict).run();
}

void verifyShardsOfOrder(const OrderCells &cells, OrderVerdict &verdict) {
  Shards(cells, verdict).run();
}

} // namespace vime::verify
