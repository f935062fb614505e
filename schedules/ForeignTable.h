// ForeignTable: tables that would be read but for one thing all over: other separators between
// cells, a heading. Said once instead of for every cell. Included by the reader of tables only.
#pragma once

#include "schedules/OrderTable.h"

#include <optional>

namespace vime {

std::optional<TableProblem> foreignTable(std::string_view text);

} // namespace vime
