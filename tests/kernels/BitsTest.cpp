// What the native kernels promise about bits: equal in both builds, wherever the memory lies,
// however many rows a call has, whoever the neighbours are.
#include "kernels/Native.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/CachedAttention.h"
#include "tests/Conformance/SlicedAttention.h"
#include "tests/kernels/Workout.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

class Bits : public testing::TestWithParam<DataType> {
protected:
  void SetUp() override {
    if (!nativeKernels(GetParam()))
      GTEST_SKIP() << nativeRefusal(GetParam());
  }
  const Kernels &kernels() const { return *nativeKernels(GetParam()); }
  Tensor tensor(std::int64_t rows, std::int64_t columns) const {
    return {GetParam(), rows, columns};
  }
  Tensor sums(std::int64_t rows, std::int64_t columns) const {
    return {sumTypeOf(GetParam()), rows, columns};
  }
};

INSTANTIATE_TEST_SUITE_P(Native, Bits,
                         testing::Values(DataType::Float32, DataType::Float64, DataType::BFloat16),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(Bits, BothBuildsAgree) {
  const Kernels *narrow = nativeKernelsFor(Isa::Avx2, GetParam());
  const Kernels *wide = nativeKernelsFor(Isa::Avx512, GetParam());
  if (!narrow || !wide)
    GTEST_SKIP() << "this machine cannot run both builds";
  for (const Workout &workout : workouts())
    EXPECT_EQ(workout.run(*narrow, {}), workout.run(*wide, {})) << workout.name;
}

TEST_P(Bits, MemoryLayoutDoesNotMatter) {
  for (const Isa isa : {Isa::Avx2, Isa::Avx512}) {
    const Kernels *kernels = nativeKernelsFor(isa, GetParam());
    if (!kernels)
      continue;
    for (const Workout &workout : workouts()) {
      const auto expected = workout.run(*kernels, {});
      for (const Placement placement : {Placement{0, 1}, {1, 0}, {7, 3}, {16, 16}})
        EXPECT_EQ(workout.run(*kernels, placement), expected)
            << kernels->name() << ": " << workout.name << ", " << placement.gap << " between rows, "
            << placement.misalignment << " off";
    }
  }
}

// 2000 deep are several slabs of few rows.
TEST_P(Bits, RowsOfAProductDoNotDependOnHowManyThereAre) {
  for (const auto &[inputs, outputs] : {std::pair<int, int>{20, 51}, {200, 40}, {2000, 45}}) {
    Tensor x = tensor(70, inputs).randomize(1), w = tensor(outputs, inputs).randomize(2);
    const Tensor residual = tensor(70, outputs).randomize(3);
    Tensor all = tensor(70, outputs), some = all;
    Workspace workspace(linearWorkspace(GetParam(), {70, inputs, outputs}));
    linearForward(kernels(), {70, inputs, outputs}, x.matrix(), w.data(), residual.matrix(),
                  all.matrix(), workspace.poisoned());
    for (std::int64_t rows = 1; rows <= 70; ++rows) {
      const std::int64_t first = (rows * 13) % (71 - rows);
      for (const bool hasFewTokens : {false, true}) {
        linearForward(kernels(), {rows, inputs, outputs, hasFewTokens}, {x.at(first, 0), x.stride},
                      w.data(), {const_cast<Tensor &>(residual).at(first, 0), residual.stride},
                      some.matrix(), workspace.poisoned());
        ASSERT_EQ(some.bytes(0, rows), all.bytes(first, rows)) << rows << " rows from " << first;
      }
    }
  }
}

TEST_P(Bits, WeightGradientsSplitAtWholeChunksOfTokens) {
  const Linear linear{400, 20, 51};
  Tensor dy = tensor(400, 51).randomize(1), x = tensor(400, 20).randomize(2);
  Tensor whole = sums(51, 20), split = whole;
  Workspace workspace(linearWorkspace(GetParam(), linear));
  linearBackwardWeight(kernels(), linear, dy.matrix(), x.matrix(), false, whole.data(),
                       workspace.poisoned());
  const auto inTwo = [&](std::int64_t tokens) {
    linearBackwardWeight(kernels(), {tokens, 20, 51}, dy.matrix(), x.matrix(), false, split.data(),
                         workspace.poisoned());
    linearBackwardWeight(kernels(), {400 - tokens, 20, 51}, {dy.at(tokens, 0), dy.stride},
                         {x.at(tokens, 0), x.stride}, true, split.data(), workspace.poisoned());
    return split.bytes();
  };
  for (const std::int64_t tokens : {128, 256, 384})
    EXPECT_EQ(inTwo(tokens), whole.bytes()) << "split after " << tokens << " tokens";
  EXPECT_NE(inTwo(100), whole.bytes()) << "or this test could not fail";
}

/// Attention, forward and backward, over the given rows of one matrix.
struct Attended {
  std::vector<std::byte> out, lse, gradient;
  bool operator==(const Attended &) const = default;
};

class Segmented : public Bits {
protected:
  static constexpr Attention kAttention{4, 2, 10};

  Attended attend(Tensor qkv, Tensor dOut, std::vector<std::int32_t> offsets, std::int64_t first,
                  std::int64_t count) {
    const Segments segments{offsets.data(), std::int32_t(offsets.size()) - 1};
    Tensor out = tensor(qkv.rows, kAttention.queryWidth()), lse = sums(qkv.rows, kAttention.heads);
    Workspace workspace(attentionWorkspace(GetParam(), kAttention, segments.tokens()));
    kernels().attentionForward(kAttention, segments, {}, qkv.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    kernels().attentionBackward(kAttention, segments, {}, qkv.matrix(), out.matrix(), dOut.matrix(),
                                lse.data(), workspace.poisoned());
    return {out.bytes(first, count), lse.bytes(first, count), qkv.bytes(first, count)};
  }
  Tensor rowsOf(const Tensor &from, std::int64_t first, std::int64_t count) {
    return tensor(count, from.columns).fill([&](std::int64_t row, std::int64_t column) {
      return from.get(first + row, column);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Native, Segmented,
                         testing::Values(DataType::Float32, DataType::Float64, DataType::BFloat16),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(Segmented, ASegmentDoesNotDependOnItsNeighbours) {
  const Tensor qkv = tensor(200, kAttention.qkvWidth()).randomize(1),
               dOut = tensor(200, kAttention.queryWidth()).randomize(2);
  const Attended packed = attend(qkv, dOut, {0, 37, 37, 140, 200}, 37, 103);
  const Attended alone = attend(rowsOf(qkv, 37, 103), rowsOf(dOut, 37, 103), {0, 103}, 0, 103);
  const Attended otherwise = attend(qkv, dOut, {0, 1, 37, 140, 150, 200}, 37, 103);
  EXPECT_EQ(packed, alone);
  EXPECT_EQ(packed, otherwise);
  EXPECT_NE(packed, attend(qkv, dOut, {0, 200}, 37, 103)) << "or this test could not fail";
}

TEST_P(Segmented, OutputsOfAPrefixDoNotDependOnWhatFollows) {
  const Tensor qkv = tensor(200, kAttention.qkvWidth()).randomize(1),
               dOut = tensor(200, kAttention.queryWidth()).randomize(2);
  const Attended whole = attend(qkv, dOut, {0, 200}, 0, 70);
  const Attended prefix = attend(rowsOf(qkv, 0, 70), rowsOf(dOut, 0, 70), {0, 70}, 0, 70);
  EXPECT_EQ(whole.out, prefix.out);
  EXPECT_EQ(whole.lse, prefix.lse);
}

TEST_P(Segmented, ACacheHasTheBitsOfWholeSequences) {
  for (const Attention &attention : {kAttention, Attention{5, 5, 8}, {3, 1, 48}, {1, 1, 132}}) {
    const Tensor qkv = tensor(300, attention.qkvWidth()).randomize(1);
    const std::int32_t offsets[] = {0, 300};
    Tensor out = tensor(300, attention.queryWidth()), lse = sums(300, attention.heads);
    Workspace workspace(attentionWorkspace(GetParam(), attention, 300));
    kernels().attentionForward(attention, {offsets, 1}, {}, qkv.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    const std::vector<std::int64_t> single(300, 1),
        parts[] = {{300}, {17, 1, 110, 1, 1, 170}, single};
    for (const std::int64_t room : {300, 321})
      for (const auto &lengths : parts)
        EXPECT_EQ(CachedAttention({attention, room})
                      .run(kernels(), KernelLibrary::Native, qkv, lengths)
                      .bytes(),
                  out.bytes())
            << attention.headWidth << " wide, " << lengths.size() << " calls";
  }
}

// Of the backward the gradients of queries; those of keys and values add up in another order.
TEST_P(Segmented, SlicesHaveTheBitsOfWholeSamples) {
  const SlicedAttention whole{kAttention, 2, 300, 1};
  const Tensor qkv = tensor(whole.rows(), kAttention.qkvWidth()).randomize(1),
               dOut = tensor(whole.rows(), kAttention.queryWidth()).randomize(2);
  const auto expected = whole.run(kernels(), KernelLibrary::Native, qkv, dOut);
  const auto queries = [&](const Tensor &gradient) {
    return tensor(whole.rows(), kAttention.queryWidth()).fill([&](auto row, auto column) {
      return gradient.get(row, column);
    });
  };
  for (const std::int32_t slices : {2, 4, 100}) {
    const auto found = SlicedAttention{kAttention, 2, 300, slices}.run(
        kernels(), KernelLibrary::Native, qkv, dOut);
    EXPECT_EQ(found.out.bytes(), expected.out.bytes()) << slices;
    EXPECT_EQ(found.lse.bytes(), expected.lse.bytes()) << slices;
    EXPECT_EQ(queries(found.gradient).bytes(), queries(expected.gradient).bytes()) << slices;
    if (GetParam() != DataType::BFloat16) { // which may round the difference away
      EXPECT_NE(found.gradient.bytes(), expected.gradient.bytes()) << slices;
    }
  }
}

} // namespace
} // namespace vime
