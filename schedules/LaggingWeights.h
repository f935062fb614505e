// One stage per rank, weight gradients behind their input gradients: what ZB-H1 and ZB-H2 share.
#pragma once

#include "schedules/Schedule.h"

namespace vime {

/// 1F1B with the backward cut in two: a rank forwards `depth` microbatches ahead for each rank
/// behind it, and owes `depth` weight gradients for each rank in front of it.
Schedule laggingWeights(ScheduleShape shape, int depth);

} // namespace vime
