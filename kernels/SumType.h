// SumType: what kernels of a type add up in.
#pragma once

#include "kernels/DataType.h"

namespace vime {

/// The type of what adds up over tokens and steps, or must not be rounded: gradients of weights,
/// moments, reciprocals of norms, the parameters that an optimizer changes a little at a time.
constexpr DataType sumTypeOf(DataType type) {
  return type == DataType::BFloat16 ? DataType::Float32 : type;
}

} // namespace vime
