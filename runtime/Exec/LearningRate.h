// The learning rate of a step, from the plan's settings alone.
//
//   learningRateOf({.learningRate = 1, .warmup = 4, .decay = Decay::Linear}, /*steps=*/8, 0)   //
//   0.25
#pragma once

#include <cstdint>

#include "runtime/Plan/Plan.h"

namespace vime {

/// Rises in equal parts over the steps of the warm-up, the last of which has the whole rate; then
/// falls to `floor`, which the step behind the last one would have.
double learningRateOf(const plan::OptimizerSettings &settings, std::uint64_t steps,
                      std::uint64_t step);

} // namespace vime
