// What the tasks and messages of a drawn step took, as costs of its plan.
#pragma once

#include "compiler/Analysis/Durations.h"
#include "compiler/View/Timeline.h"

namespace vime {

/// Medians: of each stage's tasks, of what ranks do besides, of messages from when both ends were
/// posted. The timeline is of that plan.
Durations durationsOf(const Timeline &timeline, const plan::Plan &plan);

} // namespace vime
