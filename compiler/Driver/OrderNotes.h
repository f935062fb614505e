// What the reader of a table should know: how it was understood, and what of it a plan does not
// keep.
#pragma once

#include <string>
#include <vector>

#include "schedules/OrderTable.h"

namespace vime {

std::vector<std::string> notesOn(const OrderTable &table);

} // namespace vime
