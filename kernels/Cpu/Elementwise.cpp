// Fill, add, scale, round.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {

template <typename E> void CpuKernels<E>::fill(std::int64_t count, double value, void *x) const {
  auto *values = static_cast<Sum<E> *>(x);
  for (std::int64_t at = 0; at < count; ++at)
    values[at] = Sum<E>(value);
}

template <typename E> void CpuKernels<E>::add(std::int64_t count, const void *y, void *x) const {
  const Sum<E> *__restrict addends = static_cast<const Sum<E> *>(y);
  Sum<E> *__restrict values = static_cast<Sum<E> *>(x);
  for (std::int64_t at = 0; at < count; ++at)
    values[at] += addends[at];
}

template <typename E> void CpuKernels<E>::scale(std::int64_t count, double factor, void *x) const {
  auto *values = static_cast<Sum<E> *>(x);
  for (std::int64_t at = 0; at < count; ++at)
    values[at] *= Sum<E>(factor);
}

template <typename E>
void CpuKernels<E>::round(std::int64_t count, const void *x, void *rounded) const {
  const Sum<E> *__restrict from = static_cast<const Sum<E> *>(x);
  E *__restrict to = static_cast<E *>(rounded);
  for (std::int64_t at = 0; at < count; ++at)
    to[at] = E(from[at]);
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::round(std::int64_t, const void *, void *) const;                    \
  template void CpuKernels<T>::fill(std::int64_t, double, void *) const;                           \
  template void CpuKernels<T>::add(std::int64_t, const void *, void *) const;                      \
  template void CpuKernels<T>::scale(std::int64_t, double, void *) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
