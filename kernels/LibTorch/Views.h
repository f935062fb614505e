// Views: tensors over the caller's memory, made once per thread and used again whenever the same
// memory is looked at in the same way, so that a step like the one before makes none.
//
//   at::Tensor x = view(type, {tokens, width}, {stride, 1}, data);
//
// A tensor is a view of an address, nothing more: what lies there may change or go away between
// uses. Keyed by address, type, sizes and strides; emptied when it has grown to kMostViews.
#pragma once

#include <initializer_list>

#include <ATen/core/Tensor.h>

#include "kernels/Kernels.h"

namespace vime {

c10::ScalarType scalarTypeOf(DataType type);

/// At most four dimensions.
at::Tensor view(DataType type, std::initializer_list<std::int64_t> sizes,
                std::initializer_list<std::int64_t> strides, const void *data);

/// [rows, columns] of a matrix whose rows are `stride` elements apart.
inline at::Tensor view(DataType type, std::int64_t rows, std::int64_t columns, ConstMatrix matrix) {
  return view(type, {rows, columns}, {matrix.stride, 1}, matrix.data);
}

inline at::Tensor view(DataType type, std::int64_t count, const void *vector) {
  return view(type, {count}, {1}, vector);
}

} // namespace vime
