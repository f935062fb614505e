// AdamW in one pass over parameters, gradients and both moments; memory bandwidth is all it costs.
//
// Factors are computed in float64 and rounded to the element type once, as PyTorch does.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {
namespace {

template <typename T> struct Factors {
  T gradientScale, keep, step, rootScale, take1, beta2, take2, epsilon;
  explicit Factors(const AdamW &adamw)
      : gradientScale(T(adamw.gradientScale)), keep(T(1 - adamw.learningRate * adamw.weightDecay)),
        step(T(adamw.learningRate / adamw.biasCorrection1)),
        rootScale(T(1 / squareRoot(adamw.biasCorrection2))), take1(T(1 - adamw.beta1)),
        beta2(T(adamw.beta2)), take2(T(1 - adamw.beta2)), epsilon(T(adamw.epsilon)) {}
};

/// `rounded` is touched only when kRounds.
template <typename E, bool kRounds, typename T>
void update(const Factors<T> by, std::int64_t count, const T *__restrict g, T *__restrict p,
            T *__restrict m, T *__restrict v, E *__restrict rounded) {
  for (std::int64_t at = 0; at < count; ++at) {
    const T gradient = g[at] * by.gradientScale;
    const T mean = fma(by.take1, gradient - m[at], m[at]);
    const T square = fma(by.take2 * gradient, gradient, v[at] * by.beta2);
    const T direction = mean / fma(squareRoot(square), by.rootScale, by.epsilon);
    const T parameter = fma(-by.step, direction, p[at] * by.keep);
    m[at] = mean;
    v[at] = square;
    p[at] = parameter;
    if constexpr (kRounds)
      rounded[at] = E(parameter);
  }
}

} // namespace

template <typename E>
void CpuKernels<E>::adamw(const AdamW &adamw, std::int64_t count, const void *gradients,
                          void *parameters, void *moments1, void *moments2, void *rounded) const {
  using T = Sum<E>;
  const auto run = rounded ? update<E, true, T> : update<E, false, T>;
  run(Factors<T>(adamw), count, static_cast<const T *>(gradients), static_cast<T *>(parameters),
      static_cast<T *>(moments1), static_cast<T *>(moments2), static_cast<E *>(rounded));
}

#define VIME_INSTANTIATE(E)                                                                        \
  template void CpuKernels<E>::adamw(const AdamW &, std::int64_t, const void *, void *, void *,    \
                                     void *, void *) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
