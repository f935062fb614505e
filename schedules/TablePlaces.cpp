// Tables that are made rather than read: where their cells stand in the text that `toCsv` writes.
#include "schedules/OrderTable.h"

namespace vime {

namespace {

constexpr int kBehindPair = static_cast<int>(std::string_view(")OVERLAP_F_B").size());

} // namespace

void placeCells(OrderTable &table) {
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    const int line = static_cast<int>(rank) + 1;
    int column = 1;
    bool isInPair = false;
    std::vector<TableEntry> &row = table.rows[rank];
    for (std::size_t position = 0; position < row.size(); ++position) {
      TableEntry &entry = row[position];
      const int length = static_cast<int>(toText(entry).size());
      const bool opens = !isInPair && entry.overlapsNext && position + 1 < row.size();
      column += opens; // its parenthesis
      entry.place = {line, column, length > 0 ? length : 1};
      column += length + (isInPair ? kBehindPair : 0) + 1; // and a comma or semicolon
      isInPair = opens;
    }
  }
}

OrderTable tableOf(const Schedule &order) {
  OrderTable table;
  table.copies = order.copies;
  table.slices = order.slices;
  for (const std::vector<Task> &row : order.rows) {
    std::vector<TableEntry> &cells = table.rows.emplace_back();
    cells.reserve(row.size());
    for (const Task &task : row) {
      const bool isIdle = task.kind == TaskKind::Idle;
      cells.push_back({static_cast<CellKind>(task.kind),
                       isIdle ? -1 : task.stage,
                       isIdle ? -1 : task.microbatch,
                       {},
                       task.overlapsNext});
      table.pairs += task.overlapsNext;
    }
  }
  placeCells(table);
  return table;
}

} // namespace vime
