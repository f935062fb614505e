// BFloat16: the upper half of a float. Stored, never computed with: read as float, rounded once.
#pragma once

#include <cstdint>

namespace vime {

// Inlined always: builds of the native kernels for several instruction sets must share no function.
#define VIME_ALWAYS_INLINE inline __attribute__((always_inline))

class BFloat16 {
public:
  BFloat16() = default;
  /// To the nearest, ties to even; beyond the largest it is infinity; NaN stays NaN.
  VIME_ALWAYS_INLINE explicit BFloat16(float value) {
    const auto all = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t nearest = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (all >> 16) | 0x40u;
    bits = std::uint16_t(value == value ? nearest : quiet);
  }
  VIME_ALWAYS_INLINE explicit BFloat16(double value) : BFloat16(float(value)) {}
  VIME_ALWAYS_INLINE operator float() const {
    return __builtin_bit_cast(float, std::uint32_t(bits) << 16);
  }

private:
  std::uint16_t bits;
};
static_assert(sizeof(BFloat16) == 2);

/// The type that elements of T are read as and that their sums have.
template <typename T> struct SumOf {
  using Type = T;
};
template <> struct SumOf<BFloat16> {
  using Type = float;
};
template <typename T> using Sum = typename SumOf<T>::Type;

} // namespace vime
