// PlanCosts: what the actions of a plan are taken to cost, by what the command line says, or by
// what is known of the plan.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/Analysis/Durations.h"
#include "compiler/Analysis/Simulate.h"
#include "runtime/Base/Status.h"

namespace vime {

struct PlanCosts {
  Durations durations;
  std::string origin;   // "of each stage F 1, I 1, W 1, a transfer 0; nothing else takes time"
  std::string unit;     // "units", "ms"
  double perUnit = 1e6; // nanoseconds

  /// A time as a number of units with at most three places.
  std::string show(std::int64_t nanoseconds) const;
};

/// `costs` as `readCosts` takes them; empty: as long as stages sleep, of others a unit each.
PlanCosts costsOf(const plan::Plan &plan, const std::string &costs);

/// A step of a run beside what was expected of it.
struct Measured {
  PlanCosts costs; // of the run's tasks and messages
  Simulated run;
  std::uint32_t step = 0;
};

/// Of the traces in a folder (`vime-exec --trace`). The plan is proved.
StatusOr<Measured> measuredIn(const std::string &folder, const plan::Plan &plan,
                              const verify::ActionTable &table);

} // namespace vime
