#include "schedules/ForeignTable.h"
#include "schedules/TableCell.h"
#include "schedules/ZeroBubbleCell.h"

#include <algorithm>

namespace vime {

namespace {

std::string_view firstLine(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

// Without blanks and quotes around them.
std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    const std::string_view cell = line.substr(begin, end - begin);
    const std::size_t first = std::min(cell.find_first_not_of(" \""), cell.size());
    cells.push_back(cell.substr(first, cell.find_last_not_of(" \"") + 1 - first));
    begin = end + 1;
  }
  return cells;
}

bool isCell(std::string_view cell) {
  return !cell.empty() && (std::holds_alternative<Cell>(readCell(cell)) ||
                           std::holds_alternative<Cell>(readZeroBubbleCell(cell)));
}

std::optional<TableProblem> otherSeparator(std::string_view line) {
  for (const auto &[separator, name] :
       {std::pair(';', "semicolons"), std::pair('\t', "tabs"), std::pair(' ', "blanks")}) {
    const auto cells = split(line, separator);
    if (std::ranges::count_if(cells, isCell) > 1 &&
        std::ranges::all_of(cells, [](auto cell) { return cell.empty() || isCell(cell); }))
      return TableProblem{{1, 1 + static_cast<int>(line.find(separator)), 1},
                          std::string("the cells are separated by ") + name,
                          "write commas between the cells"};
  }
  return std::nullopt;
}

// Words in front of a row of cells.
std::optional<TableProblem> heading(std::string_view line, std::string_view next) {
  const std::size_t first = line.find_first_not_of(" \",");
  if (first == line.npos || ('0' <= line[first] && line[first] <= '9') || line[first] == '(' ||
      std::ranges::any_of(split(line, ','), isCell) ||
      std::ranges::none_of(split(next, ','), isCell))
    return std::nullopt;
  return TableProblem{{1, 1, static_cast<int>(line.size())},
                      "the first line is no row of an order",
                      "tables have no headings and no comments: the first line is rank 0"};
}

} // namespace

std::optional<TableProblem> foreignTable(std::string_view text) {
  const std::string_view line = firstLine(text);
  if (auto separated = otherSeparator(line))
    return separated;
  const std::size_t end = text.find('\n');
  return end == text.npos ? std::nullopt : heading(line, firstLine(text.substr(end + 1)));
}

} // namespace vime
