// ForwardsInStep: idle slots as PyTorch draws them in its zero-bubble orders. They mean nothing to
// a plan.
#pragma once

#include "schedules/Schedule.h"

namespace vime {

/// Adds idle slots where a forward would stand in the same slot as the one it needs, or before it,
/// if all ranks go through their rows in step. Nothing else waits.
void drawForwardsInStep(Schedule &order, int microbatches);

} // namespace vime
