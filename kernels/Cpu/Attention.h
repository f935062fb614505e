// What both directions of attention share.
//
// Scores lie with one *query* per vector lane and one key per row. So a softmax runs down the rows:
// maximum, exponentials and sums of a whole panel of queries at once, with nothing to add across
// lanes, and heads of any width fill the vectors. Masked keys weigh exactly 0 and add exact zeros,
// so bits depend neither on block sizes nor on the width of a vector.
#pragma once

#include "kernels/Cpu/CpuKernels.h"
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

template <typename T> RowMajor<T> rowsFrom(RowMajor<T> matrix, std::int64_t row) {
  return {matrix.data + row * matrix.stride, matrix.stride};
}

/// Keys and values of one key-value head of one segment, by position, without gaps: those of
/// earlier slices, then the slice's own.
template <typename E>
void copyKeys(const Attention &attention, const Segments &segments, const SliceContext &context,
              std::int32_t segment, std::int32_t keyHead, ConstMatrix qkv, Sum<E> *keys,
              Sum<E> *values) {
  using T = Sum<E>;
  const std::int64_t width = attention.headWidth, before = segments.first,
                     apart = attention.keyValueWidth(), start = segments.offsets[segment],
                     tokens = segments.offsets[segment + 1] - start;
  if (before > 0) {
    const E *kept = rowOf<E>(context.keyValues, segment * context.rows) + keyHead * width;
    const std::int64_t stride = context.keyValues.stride;
    copyRows<T>(before, width, RowMajor{kept, stride}, RowMajor{keys, width});
    copyRows<T>(before, width, RowMajor{kept + apart, stride}, RowMajor{values, width});
  }
  const E *own = rowOf<E>(qkv, start) + attention.queryWidth() + keyHead * width;
  copyRows<T>(tokens, width, RowMajor{own, qkv.stride}, RowMajor{keys + before * width, width});
  copyRows<T>(tokens, width, RowMajor{own + apart, qkv.stride},
              RowMajor{values + before * width, width});
}

inline constexpr double kLog2E = 1.44269504088896340736;

/// Factors of scores. Weights are powers of two: exp(scale · s - m) = 2^(binary · s - m · log2 e).
template <typename T> struct ScoreScale {
  T natural; // 1 / sqrt(width)
  T binary;  // log2 e / sqrt(width)

  explicit ScoreScale(const Attention &attention)
      : natural(T(1 / squareRoot(double(attention.headWidth)))),
        binary(T(kLog2E / squareRoot(double(attention.headWidth)))) {}
};

} // namespace vime::ISA
