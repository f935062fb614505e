// RMSNorm (Zhang & Sennrich 2019): forward keeps one reciprocal per row, so that y can be computed
// again instead of being kept.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {
namespace {

template <typename E>
VIME_INLINE void normalize(std::int64_t width, const E *__restrict x, Sum<E> reciprocal,
                           const E *__restrict weight, E *__restrict y) {
  for (std::int64_t column = 0; column < width; ++column)
    y[column] = E(x[column] * reciprocal * weight[column]);
}

template <typename E> VIME_INLINE Sum<E> sumOfSquaresOf(std::int64_t width, const E *x) {
  using T = Sum<E>;
  Lanes<T> total = {};
  std::int64_t at = 0;
  for (; at + kLanes <= width; at += kLanes)
    total = fma(loadLanes(x + at), loadLanes(x + at), total);
  const Lanes<T> rest = loadLanes(x + at, width - at);
  return sum(fma(rest, rest, total));
}

/// sum of dy · weight · x over a row
template <typename E>
VIME_INLINE Sum<E> projection(std::int64_t width, const E *dy, const E *weight, const E *x) {
  using T = Sum<E>;
  Lanes<T> total = {};
  std::int64_t at = 0;
  for (; at + kLanes <= width; at += kLanes)
    total = fma(loadLanes(dy + at) * loadLanes(weight + at), loadLanes(x + at), total);
  const std::int64_t left = width - at;
  return sum(
      fma(loadLanes(dy + at, left) * loadLanes(weight + at, left), loadLanes(x + at, left), total));
}

/// One row: dx = residual + r · (dy · weight - x · r² · mean(dy · weight · x)); dWeight += dy · x ·
/// r
template <typename E, bool hasResidual>
VIME_INLINE void backwardRow(std::int64_t width, const E *x, const E *weight, Sum<E> reciprocal,
                             const E *dy, const E *residual, E *dx, Sum<E> *dWeight) {
  using T = Sum<E>;
  const T mean = projection(width, dy, weight, x) / T(width);
  const T pull = mean * reciprocal * reciprocal * reciprocal;
#pragma GCC ivdep // dx may be dy or residual, element by element
  for (std::int64_t column = 0; column < width; ++column) {
    const T gradient = dy[column], value = x[column];
    const T own = fma(gradient * weight[column], reciprocal, -(value * pull));
    dWeight[column] = fma(gradient * value, reciprocal, dWeight[column]);
    dx[column] = E(hasResidual ? residual[column] + own : own);
  }
}

} // namespace

template <typename E>
void CpuKernels<E>::rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight, Matrix y,
                                   void *reciprocal) const {
  using T = Sum<E>;
  auto *reciprocals = static_cast<T *>(reciprocal);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    const E *row = rowOf<E>(x, token);
    const T mean = sumOfSquaresOf(norm.width, row) / T(norm.width);
    reciprocals[token] = T(1) / squareRoot(mean + T(norm.epsilon));
    normalize(norm.width, row, reciprocals[token], static_cast<const E *>(weight),
              rowOf<E>(y, token));
  }
}

template <typename E>
void CpuKernels<E>::rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                 const void *reciprocal, Matrix y) const {
  for (std::int64_t token = 0; token < norm.tokens; ++token)
    normalize(norm.width, rowOf<E>(x, token), static_cast<const Sum<E> *>(reciprocal)[token],
              static_cast<const E *>(weight), rowOf<E>(y, token));
}

template <typename E>
void CpuKernels<E>::rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                    const void *reciprocal, ConstMatrix dy, ConstMatrix residual,
                                    Matrix dx, void *dWeight) const {
  using T = Sum<E>;
  const auto *weights = static_cast<const E *>(weight);
  const auto *reciprocals = static_cast<const T *>(reciprocal);
  auto *weightGradient = static_cast<T *>(dWeight);
  for (std::int64_t column = 0; column < norm.width; ++column)
    weightGradient[column] = T(0);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    if (residual.data)
      backwardRow<E, true>(norm.width, rowOf<E>(x, token), weights, reciprocals[token],
                           rowOf<E>(dy, token), rowOf<E>(residual, token), rowOf<E>(dx, token),
                           weightGradient);
    else
      backwardRow<E, false>(norm.width, rowOf<E>(x, token), weights, reciprocals[token],
                            rowOf<E>(dy, token), nullptr, rowOf<E>(dx, token), weightGradient);
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::rmsNormForward(const RmsNorm &, ConstMatrix, const void *, Matrix,  \
                                              void *) const;                                       \
  template void CpuKernels<T>::rmsNormApply(const RmsNorm &, ConstMatrix, const void *,            \
                                            const void *, Matrix) const;                           \
  template void CpuKernels<T>::rmsNormBackward(const RmsNorm &, ConstMatrix, const void *,         \
                                               const void *, ConstMatrix, ConstMatrix, Matrix,     \
                                               void *) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
