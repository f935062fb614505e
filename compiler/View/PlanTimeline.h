// The timeline of a simulated plan: its last step, from when its first rank began it.
#pragma once

#include "compiler/View/Timeline.h"

namespace vime {

/// Where durations come from and how they are shown.
struct ShownCosts {
  std::string origin; // "of each stage F 1, I 1, W 1"
  std::string unit;   // "units"
  double perUnit;     // nanoseconds
};

/// Bars that take no time and meet nobody are left out.
Timeline timelineOf(const plan::Plan &plan, const verify::ActionTable &table, const Simulated &run,
                    const StepReport &report, const ShownCosts &costs);

} // namespace vime
