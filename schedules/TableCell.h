// TableCell: what one cell of an order's table says. Included by the reader of tables only.
#pragma once

#include "schedules/OrderTable.h"

#include <optional>

namespace vime {

/// Kinds as the cell writes them: `Backward` for B and for BW, which were different things once.
struct Cell {
  struct Part {
    TableEntry entry;     // columns count from the cell's first character
    bool isWhole = false; // BW: a whole backward in any dialect
    int slice = 0;        // of a sequence, where the cell names one
  };
  std::vector<Part> parts; // none: an idle slot
};

/// Blanks around it are cut off already. The problem's column counts from the cell's first
/// character.
std::variant<Cell, TableProblem> readCell(std::string_view cell);

} // namespace vime
