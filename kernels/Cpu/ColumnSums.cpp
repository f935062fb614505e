// The gradient of a bias: sums down columns, a block of columns in registers over all tokens.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {

template <typename E>
void CpuKernels<E>::columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x,
                               bool accumulate, void *sums) const {
  using T = Sum<E>;
  auto *out = static_cast<T *>(sums);
  for (std::int64_t column = 0; column < width; column += kWidth<T>) {
    const int present = int(minimum(kWidth<T>, width - column));
    Vector<T> sum = {};
    for (std::int64_t token = 0; token < tokens; ++token)
      sum += loadFirst(rowOf<E>(x, token) + column, present);
    if (accumulate)
      sum = loadFirst(out + column, present) + sum;
    storeFirst(out + column, sum, present);
  }
}

template void CpuKernels<float>::columnSums(std::int64_t, std::int64_t, ConstMatrix, bool,
                                            void *) const;
template void CpuKernels<double>::columnSums(std::int64_t, std::int64_t, ConstMatrix, bool,
                                             void *) const;
template void CpuKernels<BFloat16>::columnSums(std::int64_t, std::int64_t, ConstMatrix, bool,
                                               void *) const;

} // namespace vime::ISA
