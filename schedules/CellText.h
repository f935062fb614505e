// CellText: what readers of cells share. Included by them only.
#pragma once

#include "schedules/OrderTable.h"

#include <optional>

namespace vime {

/// Takes the digits off the front of a text that is not empty; nothing if there are none or they
/// exceed an int.
std::optional<int> takeNumber(std::string_view &text);

/// The whole cell is wrong; `message` goes on behind it.
TableProblem cellProblem(std::string_view cell, std::string message, std::string help = {});

} // namespace vime
