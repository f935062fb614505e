// First values of parameters from a counter-based generator: Philox4x32-10 (Salmon et al. 2011),
// keyed by the seed, counting (pair of elements, tensor). No state, so any part of a tensor can be
// filled anywhere, by anyone, with the same numbers.
//
// One block gives two elements: 64 random bits each for Box and Muller's radius and angle, or two
// uniform numbers.
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

struct Block {
  std::uint32_t word[4];
};

VIME_INLINE Block philox(std::uint64_t index, std::uint64_t stream, std::uint64_t key) {
  Block block{{std::uint32_t(index), std::uint32_t(index >> 32), std::uint32_t(stream),
               std::uint32_t(stream >> 32)}};
  std::uint32_t key0 = std::uint32_t(key), key1 = std::uint32_t(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t(0xd2511f53u) * block.word[0];
    const std::uint64_t product1 = std::uint64_t(0xcd9e8d57u) * block.word[2];
    block = {{std::uint32_t(product1 >> 32) ^ block.word[1] ^ key0, std::uint32_t(product1),
              std::uint32_t(product0 >> 32) ^ block.word[3] ^ key1, std::uint32_t(product0)}};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return block;
}

/// In (0, 1), symmetric: the middle of one of 2^52 equal cells.
VIME_INLINE double unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t cell = (std::uint64_t(high) << 32 | low) >> 12;
  return (double(std::int64_t(cell)) + .5) * 0x1p-52;
}

struct Pair {
  double value[2];
};

VIME_INLINE Pair normals(double u, double w) {
  const double radius = squareRoot(-2. * logarithm(u));
  const SineCosine at = sineCosine(w * 6.283185307179586477);
  return {{radius * at.cosine, radius * at.sine}};
}

} // namespace

template <typename E>
void CpuKernels<E>::initialize(const Initializer &initializer, std::int64_t first,
                               std::int64_t count, void *values) const {
  using T = Sum<E>;
  auto *out = static_cast<T *>(values);
  const std::int64_t end = first + count;
  for (std::int64_t pair = first / 2; 2 * pair < end; ++pair) {
    const Block block = philox(std::uint64_t(pair), initializer.tensor, initializer.seed);
    const double u = unit(block.word[0], block.word[1]), w = unit(block.word[2], block.word[3]);
    const Pair drawn = initializer.kind == Initializer::Kind::Normal
                           ? normals(u, w)
                           : Pair{{2. * u - 1., 2. * w - 1.}};
    for (int which = 0; which < 2; ++which) {
      const std::int64_t element = 2 * pair + which;
      if (element >= first && element < end)
        out[element - first] = T(fma(initializer.spread, drawn.value[which], initializer.center));
    }
  }
}

template void CpuKernels<float>::initialize(const Initializer &, std::int64_t, std::int64_t,
                                            void *) const;
template void CpuKernels<double>::initialize(const Initializer &, std::int64_t, std::int64_t,
                                             void *) const;
template void CpuKernels<BFloat16>::initialize(const Initializer &, std::int64_t, std::int64_t,
                                               void *) const;

} // namespace vime::ISA
