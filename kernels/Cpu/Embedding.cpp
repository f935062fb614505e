// Embedding: rows of a table by token id, and the sum of gradients back into those rows.
#include "kernels/Cpu/CpuKernels.h"

namespace vime::ISA {

template <typename E>
void CpuKernels<E>::embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                                     const std::int32_t *ids, Matrix out) const {
  for (std::int64_t token = 0; token < tokens; ++token)
    __builtin_memcpy(rowOf<E>(out, token), static_cast<const E *>(table) + ids[token] * width,
                     std::size_t(width) * sizeof(E));
}

template <typename E>
void CpuKernels<E>::embeddingBackward(std::int64_t tokens, std::int64_t width,
                                      const std::int32_t *ids, ConstMatrix dOut,
                                      void *dTable) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    const E *__restrict gradient = rowOf<E>(dOut, token);
    Sum<E> *__restrict row = static_cast<Sum<E> *>(dTable) + ids[token] * width;
    for (std::int64_t column = 0; column < width; ++column)
      row[column] += gradient[column];
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::embeddingForward(std::int64_t, std::int64_t, const void *,          \
                                                const std::int32_t *, Matrix) const;               \
  template void CpuKernels<T>::embeddingBackward(std::int64_t, std::int64_t, const std::int32_t *, \
                                                 ConstMatrix, void *) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
