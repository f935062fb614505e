// PlaceChunks: from chunks of a rank to stages of the model, for tables that name only the former.
#pragma once

#include "schedules/OrderTable.h"

#include <optional>

namespace vime {

/// Every entry's `stage` is a chunk of its rank and becomes a stage, under the placement that lets
/// the order finish soonest, or go furthest; `placement` (loop, vee), if it is not empty, is taken
/// as it is. A problem if the order finishes only with two copies of the model.
std::optional<TableProblem> placeChunks(OrderTable &table, std::string_view placement);

} // namespace vime
