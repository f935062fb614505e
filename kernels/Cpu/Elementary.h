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

/// 2^x for x of at most a little over 0, so with no bound above; x below -126 (float) or -1022
/// (double) is taken as that.
VIME_INLINE Vector<float> exponential2(Vector<float> x) {
  const auto all = [](float value) { return broadcast(value); };
  x = larger(all(-126.f), x);
  const Vector<float> shift = all(12582912.f + 127.f);
  const Vector<float> shifted = x + shift;
  const Vector<float> r = x - (shifted - shift);
  // Least relative error on [-1/2, 1/2], 2e-9, with p(0) = 1.
  Vector<float> p = fma(all(1.5353359144e-04f), r, all(1.3398875441e-03f));
  p = fma(p, r, all(9.6184373770e-03f));
  p = fma(p, r, all(5.5503324679e-02f));
  p = fma(p, r, all(2.4022647913e-01f));
  p = fma(p, r, all(6.9314720286e-01f));
  p = fma(p, r, all(1.f));
  return p * powerOfTwo(shifted);
}

VIME_INLINE Vector<double> exponential2(Vector<double> x) {
  const auto all = [](double value) { return broadcast(value); };
  x = larger(all(-1022.), x);
  const Vector<double> shift = all(6755399441055744. + 1023.);
  const Vector<double> shifted = x + shift;
  const Vector<double> r = x - (shifted - shift);
  // Taylor's series, (log 2)^n / n!: |r| <= 1/2 leaves 1e-17.
  constexpr double kTerms[] = {2.56784359934882055e-11,
                               4.44553827187081162e-10,
                               7.05491162080112336e-09,
                               1.01780860092396999e-07,
                               1.32154867901443095e-06,
                               1.52527338040598411e-05,
                               1.54035303933816088e-04,
                               1.33335581464284433e-03,
                               9.61812910762847688e-03,
                               5.55041086648215831e-02,
                               2.40226506959100722e-01,
                               6.93147180559945286e-01,
                               1.};
  Vector<double> p = all(1.36914888539041281e-12);
#pragma GCC unroll 16
  for (int term = 0; term < 13; ++term)
    p = fma(p, r, all(kTerms[term]));
  return p * powerOfTwo(shifted);
}

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
