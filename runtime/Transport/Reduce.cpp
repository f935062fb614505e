#include "runtime/Transport/Reduce.h"

#include <cstdint>

namespace vime {
namespace {

template <typename Number> void add(void *sum, const void *addend, std::size_t bytes) {
  auto *to = static_cast<Number *>(sum);
  const auto *from = static_cast<const Number *>(addend);
  for (std::size_t index = 0; index < bytes / sizeof(Number); ++index)
    to[index] = static_cast<Number>(to[index] + from[index]);
}

} // namespace

void addTo(DataType type, void *sum, const void *addend, std::size_t bytes) {
  switch (type) {
  case DataType::Float32:
    return add<float>(sum, addend, bytes);
  case DataType::Float64:
    return add<double>(sum, addend, bytes);
  case DataType::Int32:
    return add<std::uint32_t>(sum, addend, bytes);
  case DataType::Byte:
    return add<std::uint8_t>(sum, addend, bytes);
  case DataType::BFloat16:
    return; // nobody adds up in sixteen bits: plans with such sums are refused
  }
}

} // namespace vime
