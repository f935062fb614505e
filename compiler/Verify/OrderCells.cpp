#include "compiler/Verify/OrderCells.h"

#include <fmt/format.h>

namespace vime::verify {

namespace {

int roundedUp(int number, int multiple) { return (number + multiple - 1) / multiple * multiple; }

} // namespace

OrderCells::OrderCells(const OrderTable &table)
    : ranks(static_cast<int>(table.rows.size())), copies(table.copies), slices(table.slices),
      stages(roundedUp(table.stages(), copies)),
      microbatches(roundedUp(table.microbatches(), slices)),
      rankOfStages(static_cast<std::size_t>(stages), -1) {
  for (const std::vector<TableEntry> &row : table.rows) {
    starts.push_back(static_cast<CellIndex>(entries.size()));
    for (const TableEntry &entry : row) {
      const auto cell = static_cast<CellIndex>(entries.size());
      entries.push_back(&entry);
      hasTransfers |= isTransfer(entry.kind);
      hasShards |= entry.kind > CellKind::ReceiveBackward;
      if (!isTask(entry.kind) && !isTransfer(entry.kind))
        continue;
      std::vector<CellIndex> &cells = this->table(entry.kind);
      if (cells.empty())
        cells.assign(static_cast<std::size_t>(stages) * static_cast<std::size_t>(microbatches),
                     kNoCell);
      CellIndex &known = cells[slot(entry.stage, entry.microbatch)];
      known = known == kNoCell ? cell : known;
      int &rank = rankOfStages[static_cast<std::size_t>(entry.stage)];
      if (isTask(entry.kind) && rank < 0)
        rank = static_cast<int>(starts.size()) - 1;
    }
  }
  starts.push_back(static_cast<CellIndex>(entries.size()));
}

CellIndex OrderCells::find(CellKind kind, int stage, int microbatch) const {
  const std::vector<CellIndex> &cells = first[static_cast<std::size_t>(kind)];
  return cells.empty() ? kNoCell : cells[slot(stage, microbatch)];
}

CellIndex OrderCells::gradient(int stage, int microbatch) const {
  const CellIndex input = find(CellKind::BackwardInput, stage, microbatch);
  return input != kNoCell ? input : find(CellKind::Backward, stage, microbatch);
}

bool OrderCells::sends(int stage, int neighbour) const {
  return isBeside(stage, neighbour) && rankOfStage(stage) >= 0 && rankOfStage(neighbour) >= 0 &&
         rankOfStage(stage) != rankOfStage(neighbour);
}

Finding &OrderVerdict::error(Rule rule, int number, CellIndex cell, std::string message,
                             std::string label) {
  Counter *counter = nullptr;
  for (Counter &known : counters)
    if (known.rule == rule && known.number == number)
      counter = &known;
  if (counter == nullptr)
    counter = &counters.emplace_back(Counter{rule, number, 0, nullptr});
  if (++counter->found > kShown)
    return unseen = Finding();
  counter->last = &findings.error(rule, number, std::move(message));
  return counter->last->at(span(cell), std::move(label));
}

SourceSpan OrderVerdict::span(CellIndex cell) const {
  const TablePlace &place = cells[cell].place;
  return {file, place.line, place.column, place.length};
}

std::string OrderVerdict::name(CellIndex cell) const { return '`' + toText(cells[cell]) + '`'; }

std::string OrderVerdict::name(CellKind kind, int stage, int microbatch) {
  return '`' + toText(TableEntry{kind, stage, microbatch, {}}) + '`';
}

void OrderVerdict::close() {
  for (const Counter &counter : counters)
    if (counter.found > kShown)
      counter.last->note(fmt::format("{} more of this kind", counter.found - kShown));
}

} // namespace vime::verify
