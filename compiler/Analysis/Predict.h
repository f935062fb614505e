// predict: what a plan says of itself: how long a step will take, and how much of it ranks idle.
#pragma once

#include <string>

#include "compiler/Analysis/Durations.h"

namespace vime {

/// Into `plan.predictions`. `costs`: where durations come from. The plan is proved.
/// Of a plan with rounds: of the part of a step that trains, as its run shows it.
void predict(plan::Plan &plan, const Durations &durations, std::string costs);

} // namespace vime
