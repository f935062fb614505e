// Values: elements of any floating type as float64, and back.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/BFloat16.h"
#include "kernels/DataType.h"

namespace vime {

inline std::vector<double> doubles(const void *data, std::size_t count, DataType type) {
  std::vector<double> values(count);
  for (std::size_t index = 0; index < count; ++index)
    values[index] = type == DataType::Float64   ? static_cast<const double *>(data)[index]
                    : type == DataType::Float32 ? static_cast<const float *>(data)[index]
                                                : static_cast<const BFloat16 *>(data)[index];
  return values;
}

inline void store(const std::vector<double> &values, DataType type, void *to) {
  for (std::size_t index = 0; index < values.size(); ++index)
    if (type == DataType::Float64)
      static_cast<double *>(to)[index] = values[index];
    else if (type == DataType::Float32)
      static_cast<float *>(to)[index] = float(values[index]);
    else
      static_cast<BFloat16 *>(to)[index] = BFloat16(values[index]);
}

} // namespace vime
