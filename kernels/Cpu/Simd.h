// Simd: the vectors of one build, and the fixed lanes in which rows are summed.
//
// Two widths must not be confused. A Vector<T> is as wide as the machine: 16 floats in one build, 8
// in the other; use it where lanes do not meet. Sums over a row run over kLanes = 16 lanes in both
// builds (Lanes<T>, one or several vectors) and a fixed tree, so that both give the same bits.
//
// BFloat16 elements are loaded as floats and rounded when stored (as BFloat16
// itself does it); there are no vectors of them.
//
// Everything here is inlined and lives in the build's namespace: a function emitted out of line
// under a shared name could end up in the other build's callers.
#pragma once

#include "kernels/BFloat16.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define VIME_INLINE VIME_ALWAYS_INLINE

namespace vime::ISA {

#ifdef __AVX512F__
inline constexpr int kVectorBytes = 64;
inline constexpr int kTileRows = 14; // 14 rows of 2 vectors: 28 accumulators of 32 registers
#else
inline constexpr int kVectorBytes = 32;
inline constexpr int kTileRows = 6; // 6 rows of 2 vectors: 12 accumulators of 16 registers
#endif

inline constexpr int kLanes = 16;

template <typename T> struct VectorOf;
template <> struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes)));
  typedef std::int32_t Integer __attribute__((vector_size(kVectorBytes)));
  typedef std::uint32_t Unsigned __attribute__((vector_size(kVectorBytes)));
};
template <> struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes)));
  typedef std::int64_t Integer __attribute__((vector_size(kVectorBytes)));
};
template <typename T> using Vector = typename VectorOf<T>::Type;
template <typename T> using IntegerVector = typename VectorOf<T>::Integer;
template <typename T> inline constexpr int kWidth = kVectorBytes / int(sizeof(T));

constexpr std::int64_t minimum(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t clamp(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : value;
}
constexpr std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <typename T> VIME_INLINE Vector<T> load(const T *from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
template <typename T> VIME_INLINE void store(T *to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// Per type: `__builtin_fma` on floats would compute in double.
VIME_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VIME_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
VIME_INLINE float squareRoot(float x) { return __builtin_sqrtf(x); }
VIME_INLINE double squareRoot(double x) { return __builtin_sqrt(x); }

// a > b ? a : b and a < b ? a : b, so b where one of them is NaN.
VIME_INLINE float larger(float a, float b) { return a > b ? a : b; }
VIME_INLINE double larger(double a, double b) { return a > b ? a : b; }
VIME_INLINE float smaller(float a, float b) { return a < b ? a : b; }
VIME_INLINE double smaller(double a, double b) { return a < b ? a : b; }

// broadcast: not `Vector<T>{} + value`, which adds for the sake of -0 and so takes the ports that
// the fused multiply-adds need: on Intel it halved the products. loadFirst, storeFirst: the first
// `count` lanes (0 .. width); memory beyond them is not touched, missing lanes read 0.
#ifdef __AVX512F__
VIME_INLINE Vector<float> broadcast(float value) { return (Vector<float>)_mm512_set1_ps(value); }
VIME_INLINE Vector<double> broadcast(double value) { return (Vector<double>)_mm512_set1_pd(value); }
VIME_INLINE Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return (Vector<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
VIME_INLINE Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
  return (Vector<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
VIME_INLINE Vector<float> larger(Vector<float> a, Vector<float> b) {
  return (Vector<float>)_mm512_max_ps((__m512)a, (__m512)b);
}
VIME_INLINE Vector<double> larger(Vector<double> a, Vector<double> b) {
  return (Vector<double>)_mm512_max_pd((__m512d)a, (__m512d)b);
}
VIME_INLINE Vector<float> smaller(Vector<float> a, Vector<float> b) {
  return (Vector<float>)_mm512_min_ps((__m512)a, (__m512)b);
}
VIME_INLINE Vector<double> smaller(Vector<double> a, Vector<double> b) {
  return (Vector<double>)_mm512_min_pd((__m512d)a, (__m512d)b);
}
VIME_INLINE unsigned firstLanes(int count) { return (1u << count) - 1; }
VIME_INLINE Vector<float> loadFirst(const float *from, int count) {
  return (Vector<float>)_mm512_maskz_loadu_ps(__mmask16(firstLanes(count)), from);
}
VIME_INLINE Vector<double> loadFirst(const double *from, int count) {
  return (Vector<double>)_mm512_maskz_loadu_pd(__mmask8(firstLanes(count)), from);
}
VIME_INLINE void storeFirst(float *to, Vector<float> value, int count) {
  _mm512_mask_storeu_ps(to, __mmask16(firstLanes(count)), (__m512)value);
}
VIME_INLINE void storeFirst(double *to, Vector<double> value, int count) {
  _mm512_mask_storeu_pd(to, __mmask8(firstLanes(count)), (__m512d)value);
}
#else
VIME_INLINE Vector<float> broadcast(float value) { return (Vector<float>)_mm256_set1_ps(value); }
VIME_INLINE Vector<double> broadcast(double value) { return (Vector<double>)_mm256_set1_pd(value); }
VIME_INLINE Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return (Vector<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
VIME_INLINE Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
  return (Vector<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
VIME_INLINE Vector<float> larger(Vector<float> a, Vector<float> b) {
  return (Vector<float>)_mm256_max_ps((__m256)a, (__m256)b);
}
VIME_INLINE Vector<double> larger(Vector<double> a, Vector<double> b) {
  return (Vector<double>)_mm256_max_pd((__m256d)a, (__m256d)b);
}
VIME_INLINE Vector<float> smaller(Vector<float> a, Vector<float> b) {
  return (Vector<float>)_mm256_min_ps((__m256)a, (__m256)b);
}
VIME_INLINE Vector<double> smaller(Vector<double> a, Vector<double> b) {
  return (Vector<double>)_mm256_min_pd((__m256d)a, (__m256d)b);
}
VIME_INLINE __m256i firstLanes(float, int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
VIME_INLINE __m256i firstLanes(double, int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
VIME_INLINE Vector<float> loadFirst(const float *from, int count) {
  return (Vector<float>)_mm256_maskload_ps(from, firstLanes(0.f, count));
}
VIME_INLINE Vector<double> loadFirst(const double *from, int count) {
  return (Vector<double>)_mm256_maskload_pd(from, firstLanes(0., count));
}
VIME_INLINE void storeFirst(float *to, Vector<float> value, int count) {
  _mm256_maskstore_ps(to, firstLanes(0.f, count), (__m256)value);
}
VIME_INLINE void storeFirst(double *to, Vector<double> value, int count) {
  _mm256_maskstore_pd(to, firstLanes(0., count), (__m256d)value);
}
#endif

/// The lanes as bfloat16, in the low half of each: BFloat16's rounding.
VIME_INLINE VectorOf<float>::Unsigned roundedBits(Vector<float> value) {
  const auto all = (VectorOf<float>::Unsigned)value;
  const auto nearest = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
  const auto quiet = (all >> 16) | 0x40u;
  return value == value ? nearest : quiet;
}

#ifdef __AVX512F__
VIME_INLINE Vector<float> widened(__m256i halves) {
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}
VIME_INLINE Vector<float> load(const BFloat16 *from) {
  return widened(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}
VIME_INLINE void store(BFloat16 *to, Vector<float> value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to),
                      _mm512_cvtepi32_epi16((__m512i)roundedBits(value)));
}
VIME_INLINE Vector<float> loadFirst(const BFloat16 *from, int count) {
  return widened(_mm256_maskz_loadu_epi16(__mmask16(firstLanes(count)), from));
}
VIME_INLINE void storeFirst(BFloat16 *to, Vector<float> value, int count) {
  _mm256_mask_storeu_epi16(to, __mmask16(firstLanes(count)),
                           _mm512_cvtepi32_epi16((__m512i)roundedBits(value)));
}
#else
VIME_INLINE Vector<float> load(const BFloat16 *from) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  return (Vector<float>)_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
}
VIME_INLINE void store(BFloat16 *to, Vector<float> value) {
  const auto words = (__m256i)roundedBits(value);
  const __m256i halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm256_castsi256_si128(halves));
}
// There is no masked move of 16-bit elements in AVX2.
VIME_INLINE Vector<float> loadFirst(const BFloat16 *from, int count) {
  if (count == kWidth<float>)
    return load(from);
  Vector<float> value = {};
  for (int lane = 0; lane < count; ++lane)
    value[lane] = from[lane];
  return value;
}
VIME_INLINE void storeFirst(BFloat16 *to, Vector<float> value, int count) {
  if (count == kWidth<float>)
    return store(to, value);
  for (int lane = 0; lane < count; ++lane)
    to[lane] = BFloat16(value[lane]);
}
#endif

/// 16 lanes of a row, as vectors.
template <typename T> struct Lanes {
  static constexpr int kParts = kLanes / kWidth<T>;
  Vector<T> part[kParts];

  VIME_INLINE friend Lanes operator+(Lanes a, const Lanes &b) {
    for (int i = 0; i < kParts; ++i)
      a.part[i] += b.part[i];
    return a;
  }
  VIME_INLINE friend Lanes operator*(Lanes a, const Lanes &b) {
    for (int i = 0; i < kParts; ++i)
      a.part[i] *= b.part[i];
    return a;
  }
};

template <typename T> VIME_INLINE Lanes<T> fma(Lanes<T> a, const Lanes<T> &b, const Lanes<T> &c) {
  for (int i = 0; i < Lanes<T>::kParts; ++i)
    a.part[i] = fma(a.part[i], b.part[i], c.part[i]);
  return a;
}

template <typename E> VIME_INLINE Lanes<Sum<E>> loadLanes(const E *from) {
  Lanes<Sum<E>> lanes;
#pragma GCC unroll 4
  for (int part = 0; part < Lanes<Sum<E>>::kParts; ++part)
    lanes.part[part] = load(from + part * kWidth<Sum<E>>);
  return lanes;
}

/// The first `count` lanes, 0 .. 16; the others read 0.
template <typename E> VIME_INLINE Lanes<Sum<E>> loadLanes(const E *from, std::int64_t count) {
  constexpr int kPartLanes = kWidth<Sum<E>>;
  Lanes<Sum<E>> lanes;
#pragma GCC unroll 4
  for (int part = 0; part < Lanes<Sum<E>>::kParts; ++part) {
    const std::int64_t start = part * kPartLanes;
    lanes.part[part] = loadFirst(from + start, int(clamp(count - start, 0, kPartLanes)));
  }
  return lanes;
}

/// The sum of all lanes: i and i + 8, then i and i + 4, then i and i + 2, then the last two.
template <typename T> VIME_INLINE T sum(const Lanes<T> &lanes) {
  T value[kLanes];
  __builtin_memcpy(value, &lanes, sizeof value);
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int lane = 0; lane < half; ++lane)
      value[lane] += value[lane + half];
  return value[0];
}

} // namespace vime::ISA
