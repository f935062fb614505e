// Neighbours: keys a little different from those that gave a good timing.
#pragma once

#include "schedules/Search/Kernel.h"
#include "schedules/Search/Random.h"

namespace vime {

Kernel neighbourOf(const Flow &flow, Kernel kernel, Random &random);

Urgency neighbourOf(const Flow &flow, Urgency urgency, Random &random);

} // namespace vime
