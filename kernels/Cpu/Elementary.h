// exp, log, sine and cosine with the same bits on every build: polynomials in explicit fused
// multiply-adds, no branches, so that loops over them become vector code.
//
// Relative error about 1e-7 in float and 1e-15 in double. NaN comes out as NaN.
#pragma once

#include "kernels/Cpu/Simd.h"

namespace vime::ISA {

/// 2^n, where `shifted` is n + 127 (float) or n + 1023 (double) after the addition that rounded it.
VIME_INLINE float powerOfTwo(float shifted) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, shifted) << 23);
}
VIME_INLINE double powerOfTwo(double shifted) {
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, shifted) << 52);
}
VIME_INLINE Vector<float> powerOfTwo(Vector<float> shifted) {
  return (Vector<float>)((IntegerVector<float>)shifted << 23);
}
VIME_INLINE Vector<double> powerOfTwo(Vector<double> shifted) {
  return (Vector<double>)((IntegerVector<double>)shifted << 52);
}

template <typename V> VIME_INLINE V exponentialOfFloats(V x) {
  const auto all = [](float value) { return V{} + value; };
  x = smaller(all(88.f), larger(all(-87.f), x));
  // Adding 1.5 · 2^23 rounds to an integer; the extra 127 leaves the biased exponent in the low
  // bits.
  const V shift = all(12582912.f + 127.f);
  const V shifted = fma(x, all(1.44269504088896341f), shift);
  const V power = shifted - shift;
  V r = fma(power, all(-0.693359375f), x);
  r = fma(power, all(2.12194440e-4f), r);
  V p = fma(all(1.9875691500e-4f), r, all(1.3981999507e-3f)); // Cephes expf
  p = fma(p, r, all(8.3334519073e-3f));
  p = fma(p, r, all(4.1665795894e-2f));
  p = fma(p, r, all(1.6666665459e-1f));
  p = fma(p, r, all(5.0000001201e-1f));
  p = fma(p, r * r, r + all(1.f));
  return p * powerOfTwo(shifted);
}

template <typename V> VIME_INLINE V exponentialOfDoubles(V x) {
  const auto all = [](double value) { return V{} + value; };
  x = smaller(all(700.), larger(all(-700.), x));
  const V shift = all(6755399441055744. + 1023.);
  const V shifted = fma(x, all(1.4426950408889634074), shift);
  const V power = shifted - shift;
  V r = fma(power, all(-6.93147180369123816490e-01), x);
  r = fma(power, all(-1.90821492927058770002e-10), r);
  // Taylor's series to r^13: |r| < 0.35 leaves 5e-18.
  constexpr double kTerms[] = {
      1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720,
      1. / 120,       1. / 24,       1. / 6,       .5,          1.,         1.};
  V p = all(1. / 6227020800.);
#pragma GCC unroll 16
  for (int term = 0; term < 13; ++term)
    p = fma(p, r, all(kTerms[term]));
  return p * powerOfTwo(shifted);
}

/// e^x. Arguments outside [-87, 88] (float), [-700, 700] (double) are taken as the nearest bound,
/// so that the result is never 0 and never infinite.
VIME_INLINE float exponential(float x) { return exponentialOfFloats(x); }
VIME_INLINE double exponential(double x) { return exponentialOfDoubles(x); }
VIME_INLINE Vector<float> exponential(Vector<float> x) { return exponentialOfFloats(x); }
VIME_INLINE Vector<double> exponential(Vector<double> x) { return exponentialOfDoubles(x); }

/// Natural logarithm of a positive, normal, finite x; anything infinite or NaN gives NaN.
///
/// x = 2^n m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)).
VIME_INLINE float logarithm(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::int32_t power = std::int32_t(bits - 0x3f3504f3u) >> 23;
  const float m = __builtin_bit_cast(float, bits - (std::uint32_t(power) << 23));
  const float s = (m - 1.f) / (m + 1.f), z = s * s, n = float(power);
  float p = 2.f / 11;
  p = fma(p, z, 2.f / 9);
  p = fma(p, z, 2.f / 7);
  p = fma(p, z, 2.f / 5);
  p = fma(p, z, 2.f / 3);
  const float small = fma(p * z, s, fma(n, -2.12194440e-4f, 2.f * s));
  return fma(n, 0.693359375f, small) + x * 0.f;
}

VIME_INLINE double logarithm(double x) {
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const std::int64_t power = std::int64_t(bits - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = __builtin_bit_cast(double, bits - (std::uint64_t(power) << 52));
  const double s = (m - 1.) / (m + 1.), z = s * s, n = double(power);
  constexpr double kTerms[] = {2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13,
                               2. / 11, 2. / 9,  2. / 7,  2. / 5,  2. / 3};
  double p = 2. / 23;
#pragma GCC unroll 16
  for (int term = 0; term < 10; ++term)
    p = fma(p, z, kTerms[term]);
  const double small = fma(p * z, s, fma(n, 1.90821492927058770002e-10, 2. * s));
  return fma(n, 6.93147180369123816490e-01, small) + x * 0.;
}

/// Sine and cosine of |x| < 2^30.
struct SineCosine {
  double sine, cosine;
};
VIME_INLINE SineCosine sineCosine(double x) {
  const double shift = 6755399441055744.;
  const double shifted = fma(x, 6.36619772367581382433e-01, shift); // quarter turns
  const double quarters = shifted - shift;
  double r = fma(quarters, -1.57079632679489655800e+00, x); // pi/2 in three parts
  r = fma(quarters, -6.12323399573676603587e-17, r);
  r = fma(quarters, 1.49738490485916983e-33, r);
  const double z = r * r;
  constexpr double kSine[] = {-1. / 1307674368000., 1. / 6227020800., -1. / 39916800, 1. / 362880,
                              -1. / 5040,           1. / 120,         -1. / 6};
  constexpr double kCosine[] = {
      -1. / 87178291200., 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -.5};
  double s = 1. / 355687428096000., c = 1. / 20922789888000.;
#pragma GCC unroll 8
  for (int term = 0; term < 7; ++term) {
    s = fma(s, z, kSine[term]);
    c = fma(c, z, kCosine[term]);
  }
  s = fma(s * z, r, r);
  c = fma(c, z, 1.);
  const auto turn = __builtin_bit_cast(std::uint64_t, shifted);
  const double sine = turn & 1 ? c : s, cosine = turn & 1 ? s : c;
  return {turn & 2 ? -sine : sine, (turn + 1) & 2 ? -cosine : cosine};
}

} // namespace vime::ISA
