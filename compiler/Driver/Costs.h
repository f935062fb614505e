// Costs: what tasks cost, as the command line says it: `--costs 10,12,8` or, with a transfer,
// `--costs 10,12,8,1`; or by the machine that they run on: `--machine h100-80g`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schedules/Schedule.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace vime {

/// What tasks of a plan cost: at most one of the two is given.
struct CostChoice {
  std::string costs;   // as `readCosts` takes them; empty: what is known of the plan's stages
  std::string machine; // name of a profile or a file
};

/// Three or four whole numbers between commas: 1 to kMaxCost of a task, from 0 of a transfer.
std::optional<UnitCosts> readCosts(std::string_view text);

/// The option takes what `readCosts` reads, and says so of anything else.
CLI::Option *takesCosts(CLI::Option *option);

/// `--costs` and `--machine`, of which one excludes the other. Gives the option `--costs`.
CLI::Option *takesCostChoice(CLI::App &verb, CostChoice &choice);

} // namespace vime
