// An order of forwards alone, for passes that learn nothing: evaluation, log-probabilities.
#pragma once

#include "schedules/Schedule.h"

namespace vime {

/// Every stage of the placement runs every microbatch forward. With several stages on a rank, as
/// many microbatches as there are ranks go through one of them before the next stage takes them, as
/// in the interleaved order. Never gets stuck, whatever the placement is: groups, stages and
/// microbatches ascend along every row and along every message.
Schedule forwardOnly(const Placement &placement, int ranks, int microbatches, int slices = 1);

} // namespace vime
