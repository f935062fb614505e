// Rotary position embedding (Su et al. 2021), half-rotation form: pairs are (j, j + headWidth / 2).
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

/// Rounded to float32 wherever Hugging Face's Llama rounds: angles of far positions depend on it.
float frequencyOf(std::int32_t pair, std::int32_t headWidth, double theta) {
  const float exponent = float(2 * pair) / float(headWidth);
  const float power = float(exponential(logarithm(theta) * double(exponent)));
  return 1.f / power;
}

template <typename E>
VIME_INLINE void rotateHead(std::int32_t half, const Sum<E> *__restrict cosine,
                            const Sum<E> *__restrict sine, Sum<E> direction, E *__restrict first,
                            E *__restrict second) {
  using T = Sum<E>;
  for (std::int32_t pair = 0; pair < half; ++pair) {
    const T a = first[pair], b = second[pair], s = direction * sine[pair];
    first[pair] = E(fma(a, cosine[pair], -(b * s)));
    second[pair] = E(fma(b, cosine[pair], a * s));
  }
}

} // namespace

template <typename E>
void CpuKernels<E>::ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                              void *table) const {
  using T = Sum<E>;
  const std::int32_t half = headWidth / 2;
  auto *values = static_cast<T *>(table);
  for (std::int32_t pair = 0; pair < half; ++pair) {
    const float frequency = frequencyOf(pair, headWidth, theta);
    for (std::int64_t position = 0; position < positions; ++position) {
      const float angle = float(position) * frequency;
      const SineCosine at = sineCosine(double(angle));
      values[position * headWidth + pair] = T(at.cosine);
      values[position * headWidth + half + pair] = T(at.sine);
    }
  }
}

template <typename E>
void CpuKernels<E>::rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth,
                         const void *table, bool inverse, Matrix x) const {
  using T = Sum<E>;
  const std::int32_t half = headWidth / 2;
  const T direction = inverse ? T(-1) : T(1);
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t first = segments.offsets[segment], end = segments.offsets[segment + 1];
    for (std::int64_t token = first; token < end; ++token) {
      const T *cosine =
          static_cast<const T *>(table) + (segments.first + token - first) * headWidth;
      for (std::int32_t head = 0; head < heads; ++head) {
        E *values = rowOf<E>(x, token) + std::int64_t(head) * headWidth;
        rotateHead<E>(half, cosine, cosine + half, direction, values, values + half);
      }
    }
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::ropeTable(std::int64_t, std::int32_t, double, void *) const;        \
  template void CpuKernels<T>::rope(const Segments &, std::int32_t, std::int32_t, const void *,    \
                                    bool, Matrix) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
