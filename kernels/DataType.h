// DataType: the element types of weights, activations, buffers and messages. Kernels compute in the
// floating ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vime {

enum class DataType : std::uint8_t { Float32, Float64, BFloat16, Int32, Byte };

/// Bytes of one element.
constexpr std::size_t sizeOf(DataType type) {
  constexpr std::size_t kBytes[] = {4, 8, 2, 4, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

/// The name users write and read: `float32`, `float64`, `bfloat16`.
constexpr const char *nameOf(DataType type) {
  constexpr const char *kNames[] = {"float32", "float64", "bfloat16", "int32", "byte"};
  return kNames[static_cast<std::size_t>(type)];
}

} // namespace vime
