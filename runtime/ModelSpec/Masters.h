// Masters: the parameters of a stage whose weights are rounded.
//
// An update is often smaller than half the distance of two bfloat16 numbers, so weights of bfloat16
// are a rounded copy of float32 masters. These lie behind both moments, each of the three as long
// as the gradients and of their type, `sumTypeOf` the model's.
#pragma once

#include <cstdint>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

inline bool hasMasters(const StageSpec &spec) { return spec.momentBytes > 2 * spec.gradientBytes; }

/// Where they begin among the moments.
inline std::uint64_t mastersOffset(const StageSpec &spec) { return 2 * spec.gradientBytes; }

} // namespace vime
