// Snippet: tabs, widths, controls and clipping of one line.
#include "compiler/Diagnostics/Snippet.h"

#include <algorithm>
#include <vector>

#include "compiler/Diagnostics/Utf8.h"

namespace vime {

namespace {

constexpr int kWidestLine = 110;   // columns shown of a line
constexpr int kColumnsBefore = 40; // shown before the underline of a clipped line
constexpr std::string_view kTab = "    ";

struct Cell {
  std::string text;
  int start; // columns before it
  int width;
};

constexpr int kFarthest = 1000; // characters looked at on either side of the underline

void removeCharacters(std::string_view &text, int count) {
  for (; count > 0 && !text.empty(); --count)
    text.remove_prefix(characterAt(text).bytes);
}

/// The part of an endless line that can be shown; `column` counts from its start.
std::string_view nearPart(std::string_view line, int &column) {
  const int skipped = std::max(0, column - kFarthest);
  removeCharacters(line, skipped);
  column -= skipped;
  std::string_view rest = line;
  removeCharacters(rest, 2 * kFarthest);
  return line.substr(0, line.size() - rest.size());
}

std::vector<Cell> cellsOf(std::string_view line) {
  std::vector<Cell> cells;
  int start = 0;
  while (!line.empty()) {
    const Character character = characterAt(line);
    Cell cell{.text = printable(line.substr(0, character.bytes)), .start = start, .width = 1};
    if (line[0] == '\t')
      cell = {.text = std::string(kTab), .start = start, .width = static_cast<int>(kTab.size())};
    else if (character.legal && !isControl(character.code))
      cell.width = displayWidth(character.code);
    start += cell.width;
    cells.push_back(std::move(cell));
    line.remove_prefix(character.bytes);
  }
  return cells;
}

int widthOf(const std::vector<Cell> &cells) {
  return cells.empty() ? 0 : cells.back().start + cells.back().width;
}

// Columns before the character with this index; the index may be the one behind the last.
int startOf(const std::vector<Cell> &cells, std::size_t index) {
  return index < cells.size() ? cells[index].start : widthOf(cells);
}

// The cells inside [from, to), with `…` where some were left out.
std::string window(const std::vector<Cell> &cells, int from, int to) {
  std::string text = from > 0 ? "…" : "";
  for (const Cell &cell : cells)
    if (cell.start >= from && cell.start + cell.width <= to)
      text += cell.text;
  return widthOf(cells) > to ? text + "…" : text;
}

} // namespace

Snippet snippet(std::string_view line, int column, int length) {
  column = std::max(column, 1);
  const std::vector<Cell> cells = cellsOf(nearPart(line, column));
  const std::size_t first = std::min(cells.size(), static_cast<std::size_t>(column - 1));
  const std::size_t end =
      std::min(cells.size(), first + static_cast<std::size_t>(std::max(length, 1)));
  const int underline = startOf(cells, first);
  const int width = std::max(1, startOf(cells, end) - underline);
  if (widthOf(cells) <= kWidestLine)
    return {.text = window(cells, 0, kWidestLine), .underline = underline, .width = width};

  int from = underline + width < kWidestLine ? 0 : std::max(0, underline - kColumnsBefore);
  for (const Cell &cell : cells) // a window starts where a character starts
    if (cell.start >= from) {
      from = cell.start;
      break;
    }
  const int ellipsis = from > 0 ? 1 : 0;
  return {.text = window(cells, from, from + kWidestLine),
          .underline = underline - from + ellipsis,
          .width = std::min(width, from + kWidestLine - underline)};
}

} // namespace vime
