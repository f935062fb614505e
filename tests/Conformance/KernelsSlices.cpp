// Samples that pass in slices, against whole ones.
#include "tests/Conformance/KernelsFixture.h"
#include "tests/Conformance/SlicedAttention.h"

namespace vime {
namespace {

TEST_P(KernelsConformance, RopeGoesOnFromSliceToSlice) {
  const std::vector<std::int32_t> offsets = {0, 3, 6}, sliced = {0, 1, 2};
  Tensor table = sums(9, 8, 0);
  reference().ropeTable(9, 8, 1e4, table.data());
  Tensor whole = tensor(6, 16).randomize(1), slice = tensor(2, 16).fill([&](auto row, auto column) {
    return whole.get(3 * row + 2, column); // the third token of each
  });
  kernels().rope({offsets.data(), 2}, 2, 8, table.data(), false, whole.matrix());
  kernels().rope({sliced.data(), 2, /*first=*/2}, 2, 8, table.data(), false, slice.matrix());
  const Tensor expected =
      tensor(2, 16).fill([&](auto row, auto column) { return whole.get(3 * row + 2, column); });
  expectClose(slice, expected, "rotated");
}

// Slices below, at and above a panel and a block of queries, and a tile of keys.
const std::vector<SlicedAttention> kSliced = {{{1, 1, 2}, 1, 2, 2},   {{2, 2, 8}, 3, 24, 4},
                                              {{4, 2, 5}, 2, 64, 2},  {{3, 1, 16}, 2, 99, 3},
                                              {{2, 1, 64}, 1, 70, 7}, {{1, 1, 33}, 2, 40, 1},
                                              {{4, 1, 8}, 1, 520, 2}, {{2, 1, 12}, 1, 300, 25}};

TEST_P(KernelsConformance, AttentionInSlices) {
  for (const SlicedAttention &sliced : kSliced) {
    const auto &[attention, samples, tokens, slices] = sliced;
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << attention.keyValueHeads
                                    << " key-value heads, width " << attention.headWidth << ", "
                                    << samples << " samples of " << tokens << " in " << slices);
    const Tensor qkv = tensor(sliced.rows(), attention.qkvWidth()).randomize(1, 2),
                 dOut = tensor(sliced.rows(), attention.queryWidth(), 1).randomize(2);
    const auto [out, lse, gradient] = sliced.run(kernels(), library(), qkv, dOut);
    // The reference in slices is what each call says; whole, it is what they are together.
    for (const std::int32_t parts : {slices, 1}) {
      const auto expected =
          SlicedAttention{attention, samples, tokens, parts}.run(reference(), library(), qkv, dOut);
      expectClose(out, expected.out, "out");
      expectClose(lse, expected.lse, "lse");
      expectClose(gradient, expected.gradient, "dq, dk, dv");
    }
  }
}

} // namespace
} // namespace vime
