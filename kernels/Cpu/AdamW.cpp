// AdamW in one pass over parameters, gradients and both moments; memory bandwidth is all it costs.
//
// Factors are computed in float64 and rounded to the element type once, as PyTorch does.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {

template <typename T>
void CpuKernels<T>::adamw(const AdamW &adamw, std::int64_t count, const void *gradients,
                          void *parameters, void *moments1, void *moments2) const {
  const T gradientScale = T(adamw.gradientScale);
  const T keep = T(1 - adamw.learningRate * adamw.weightDecay);
  const T step = T(adamw.learningRate / adamw.biasCorrection1);
  const T rootScale = T(1 / squareRoot(adamw.biasCorrection2));
  const T take1 = T(1 - adamw.beta1), beta2 = T(adamw.beta2), take2 = T(1 - adamw.beta2);
  const T epsilon = T(adamw.epsilon);
  const T *__restrict g = static_cast<const T *>(gradients);
  T *__restrict p = static_cast<T *>(parameters);
  T *__restrict m = static_cast<T *>(moments1);
  T *__restrict v = static_cast<T *>(moments2);
  for (std::int64_t at = 0; at < count; ++at) {
    const T gradient = g[at] * gradientScale;
    const T mean = fma(take1, gradient - m[at], m[at]);
    const T square = fma(take2 * gradient, gradient, v[at] * beta2);
    const T direction = mean / fma(squareRoot(square), rootScale, epsilon);
    m[at] = mean;
    v[at] = square;
    p[at] = fma(-step, direction, p[at] * keep);
  }
}

template void CpuKernels<float>::adamw(const AdamW &, std::int64_t, const void *, void *, void *,
                                       void *) const;
template void CpuKernels<double>::adamw(const AdamW &, std::int64_t, const void *, void *, void *,
                                        void *) const;

} // namespace vime::ISA
