// Costs: what tasks cost, as the command line says it: `--costs 10,12,8` or, with a transfer,
// `--costs 10,12,8,1`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schedules/Schedule.h"

namespace CLI {
class Option;
} // namespace CLI

namespace vime {

/// Three or four whole numbers between commas: 1 to kMaxCost of a task, from 0 of a transfer.
std::optional<UnitCosts> readCosts(std::string_view text);

/// The option takes what `readCosts` reads, and says so of anything else.
CLI::Option *takesCosts(CLI::Option *option);

} // namespace vime
