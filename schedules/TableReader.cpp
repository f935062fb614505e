// Reading an order's table, row by row; what B means is settled when all of it has been seen.
#include "schedules/ForeignTable.h"
#include "schedules/Limits.h"
#include "schedules/PlaceChunks.h"
#include "schedules/TableCell.h"
#include "schedules/ZeroBubbleCell.h"

#include <algorithm>

namespace vime {

namespace {

constexpr std::size_t kMostProblems = 50;                   // nobody reads more
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf"; // spreadsheets begin files with it

std::string_view trimmed(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
}

// Spreadsheets put cells into quotes.
std::string_view withoutQuotes(std::string_view cell) {
  const bool isQuoted = cell.size() > 1 && cell.front() == '"' && cell.back() == '"';
  return isQuoted ? trimmed(cell.substr(1, cell.size() - 2)) : cell;
}

class TableReader {
public:
  TableReader(std::string_view text, std::string_view placement)
      : text(text), placement(placement) {}

  std::variant<OrderTable, std::vector<TableProblem>> read() {
    if (text.starts_with(kByteOrderMark))
      text.remove_prefix(kByteOrderMark.size());
    if (auto foreign = foreignTable(text))
      return std::vector{std::move(*foreign)};
    while (!text.empty() && problems.size() < kMostProblems)
      readRow(takeLine());
    if (table.rows.empty())
      problems.push_back({{}, "the table holds no row", {}});
    if (problems.empty())
      settleDialect();
    if (problems.empty() && namesChunks.value_or(false))
      if (auto problem = placeChunks(table, placement))
        problems.push_back(std::move(*problem));
    if (!problems.empty())
      return std::move(problems);
    return std::move(table);
  }

private:
  std::string_view takeLine() {
    const std::size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.ends_with('\r'))
      row.remove_suffix(1);
    ++line;
    return row;
  }

  void readRow(std::string_view row) {
    if (line > kMaxRanks) {
      problems.push_back(
          {{line, 1, 1}, "the table has more than " + std::to_string(kMaxRanks) + " rows", {}});
      text = {};
      return;
    }
    table.rows.emplace_back();
    for (std::size_t begin = 0; problems.size() < kMostProblems;) {
      const std::size_t comma = row.find(',', begin);
      readAt(row.substr(begin, comma - begin), begin);
      if (comma == std::string_view::npos)
        break;
      begin = comma + 1;
    }
    if (isIdle(table.rows.back()) && problems.empty())
      problems.push_back(
          {{line, 1, 1}, "the row of rank " + std::to_string(line - 1) + " holds no task", {}});
  }

  static bool isIdle(const std::vector<TableEntry> &row) {
    return std::all_of(row.begin(), row.end(),
                       [](const TableEntry &entry) { return entry.kind == CellKind::Idle; });
  }

  void readAt(std::string_view slot, std::size_t begin) {
    const std::string_view cell = withoutQuotes(trimmed(slot));
    const int offset = static_cast<int>(begin + (cell.empty() ? 0 : cell.data() - slot.data()));
    if (!cell.empty() && !namesChunks)
      namesChunks = isZeroBubbleCell(cell);
    auto parsed = namesChunks.value_or(false) ? readZeroBubbleCell(cell) : readCell(cell);
    if (auto *wrong = std::get_if<TableProblem>(&parsed)) {
      wrong->place.line = line;
      wrong->place.column += offset;
      problems.push_back(std::move(*wrong));
      return;
    }
    const Cell &found = std::get<Cell>(parsed);
    if (found.parts.empty())
      table.rows.back().push_back({CellKind::Idle, -1, -1, {line, 1 + offset, 1}});
    table.pairs += !found.parts.empty() && found.parts.front().entry.overlapsNext;
    for (const Cell::Part &part : found.parts) {
      table.rows.back().push_back(part.entry);
      table.rows.back().back().place.line = line;
      table.rows.back().back().place.column += offset;
      note(part, table.rows.size() - 1);
    }
    refuseSlices(found);
  }

  // Once: what a table cannot say, it cannot say of any cell.
  void refuseSlices(const Cell &cell) {
    const bool isSliced = !cell.parts.empty() && cell.parts.front().slice > 0;
    if (isSliced && !hasSlices)
      problems.push_back({table.rows.back().back().place,
                          "the table cuts the sequences of microbatches into slices",
                          "tables hold tasks of whole microbatches"});
    hasSlices |= isSliced;
  }

  void note(const Cell::Part &part, std::size_t rank) {
    const std::size_t position = table.rows[rank].size() - 1;
    hasInput |= part.entry.kind == CellKind::BackwardInput;
    hasWeight |= part.entry.kind == CellKind::BackwardWeight;
    hasWhole |= part.isWhole;
    if (part.entry.kind == CellKind::Backward && !part.isWhole)
      plain.push_back({rank, position});
  }

  // No table of today has W without I: a weight gradient needs an input gradient before it.
  void settleDialect() {
    table.isOld = !hasInput && (hasWeight || hasWhole) && !plain.empty();
    if (table.isOld)
      for (const auto &[rank, position] : plain)
        table.rows[rank][position].kind = CellKind::BackwardInput;
  }

  struct Position {
    std::size_t rank, position;
  };

  std::string_view text;            // what is left of the file
  const std::string_view placement; // of chunks
  std::optional<bool> namesChunks;  // as the first cell does
  bool hasSlices = false;
  int line = 0;
  bool hasInput = false, hasWeight = false, hasWhole = false;
  std::vector<Position> plain; // every B
  OrderTable table;
  std::vector<TableProblem> problems;
};

} // namespace

std::variant<OrderTable, std::vector<TableProblem>> readTable(std::string_view text,
                                                              std::string_view placement) {
  return TableReader(text, placement).read();
}

int OrderTable::stages() const {
  int most = -1;
  for (const std::vector<TableEntry> &row : rows)
    for (const TableEntry &entry : row)
      most = std::max(most, entry.stage);
  return most + 1;
}

int OrderTable::microbatches() const {
  int most = -1;
  for (const std::vector<TableEntry> &row : rows)
    for (const TableEntry &entry : row)
      most = std::max(most, entry.microbatch);
  return most + 1;
}

Schedule OrderTable::schedule() const {
  Schedule order{Placement(static_cast<std::size_t>(stages()), -1), {}, copies, slices};
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    order.rows.emplace_back();
    for (const TableEntry &entry : rows[rank]) {
      if (entry.kind == CellKind::Idle) {
        order.rows.back().push_back({TaskKind::Idle, -1, -1});
        continue;
      }
      int &placed = order.placement[static_cast<std::size_t>(entry.stage)];
      placed = placed < 0 ? static_cast<int>(rank) : placed;
      if (isTask(entry.kind))
        order.rows.back().push_back(
            {static_cast<TaskKind>(entry.kind), entry.stage, entry.microbatch, entry.overlapsNext});
    }
  }
  return order;
}

} // namespace vime
