// BasePlans: plans that keep every rule, of every shape that the compiler makes, all small.
#pragma once

#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::fuzz {

/// Made once.
const std::vector<plan::Plan> &basePlans();

} // namespace vime::fuzz
