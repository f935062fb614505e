// What both directions of attention share.
//
// Scores lie with one *query* per vector lane and one key per row. So a softmax runs down the rows:
// maximum, exponentials and sums of a whole panel of queries at once, with nothing to add across
// lanes, and heads of any width fill the vectors. Masked keys weigh exactly 0 and add exact zeros,
// so bits depend neither on block sizes nor on the width of a vector.
#pragma once

#include "kernels/Cpu/Elementary.h"
#include "kernels/Cpu/Gemm.h"
#include "kernels/Kernels.h"

namespace vime::ISA {

/// Queries that are handled at once: the lanes of two vectors.
template <typename T> inline constexpr int kQueryPanel = kPanel<T, 2>;

/// Of vector `v` of a panel: `shown` in the lanes of queries that see a key `lag` tokens after the
/// panel's first query, `hidden` in the others.
template <typename T>
VIME_INLINE Vector<T> visible(std::int64_t lag, int v, Vector<T> shown, Vector<T> hidden) {
  Vector<T> query;
#pragma GCC unroll 16
  for (int lane = 0; lane < kWidth<T>; ++lane)
    query[lane] = T(v * kWidth<T> + lane);
  return query >= broadcast(T(lag)) ? shown : hidden;
}

template <typename T>
void copyRows(std::int64_t rows, std::int64_t columns, RowMajor<const T> from, RowMajor<T> to) {
  for (std::int64_t row = 0; row < rows; ++row)
    __builtin_memcpy(to.data + row * to.stride, from.data + row * from.stride,
                     std::size_t(columns) * sizeof(T));
}

template <typename T> RowMajor<T> rowsFrom(RowMajor<T> matrix, std::int64_t row) {
  return {matrix.data + row * matrix.stride, matrix.stride};
}

/// The factor of scores.
template <typename T> T scoreScale(const Attention &attention) {
  return T(1) / squareRoot(T(attention.headWidth));
}

} // namespace vime::ISA
