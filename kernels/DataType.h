// DataType: the element types that weights, activations and kernels can have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vime {

enum class DataType : std::uint8_t { Float32, Float64, BFloat16 };

/// Bytes of one element.
constexpr std::size_t sizeOf(DataType type) {
  switch (type) {
  case DataType::Float64:
    return 8;
  case DataType::BFloat16:
    return 2;
  case DataType::Float32:
    break;
  }
  return 4;
}

/// The name users write and read: `float32`, `float64`, `bfloat16`.
constexpr const char *nameOf(DataType type) {
  switch (type) {
  case DataType::Float64:
    return "float64";
  case DataType::BFloat16:
    return "bfloat16";
  case DataType::Float32:
    break;
  }
  return "float32";
}

} // namespace vime
