// RandomPlan: a plan with something in every field, legal as IR though nobody could run it; and
// plans with the operand pools that flattening gives.
#pragma once

#include <cstdint>

#include "runtime/Plan/Plan.h"

namespace vime {

/// The same seed gives the same plan.
plan::Plan randomPlan(std::uint32_t seed);

/// Each list of operands once, in order of first use.
plan::Plan withSharedOperands(plan::Plan plan);

} // namespace vime
