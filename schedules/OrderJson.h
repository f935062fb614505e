// An order as JSON, for tools: its numbers, rows, and what unit time says of it.
#pragma once

#include "schedules/OrderTable.h"
#include "schedules/Registry.h"

#include <string>

namespace vime {

/// {"name": …, "ranks": …, "rows": [["0F0", null, …], …], "unit_time": {"makespan": …, …}, …}: keys
/// in a fixed order, `null` for an idle slot, one row per line. `schedule` is what `order` built
/// for `shape`; the times are on the clock of `costs`.
std::string toJson(const Order &order, ScheduleShape shape, const Schedule &schedule,
                   UnitCosts costs = {});

/// The same of a table, with `file` for the name; it is UTF-8.
std::string toJson(std::string_view file, const OrderTable &table, UnitCosts costs = {});

} // namespace vime
