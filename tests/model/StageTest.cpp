// What a plan relies on in any stage: one answer in bits however the work is cut, exact regions, no
// allocation.
#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "kernels/SquareSum.h"
#include "kernels/Workspace.h"
#include "tests/model/CountAllocations.h"
#include "tests/model/ModelRun.h"
#include "tests/model/Values.h"

namespace vime {
namespace {

using Backward = ModelRun::Backward;

/// What a stage may be asked for besides a type.
struct Variant {
  const char *name;
  ModelFamily family = ModelFamily::Llama;
  bool tiedHead = false, recomputesLayers = false;
};
constexpr Variant kVariants[] = {{"llama"},
                                 {"qwen2_tied", ModelFamily::Qwen2, true},
                                 {"qwen3_recomputed", ModelFamily::Qwen3, false, true},
                                 {"llama_tied_recomputed", ModelFamily::Llama, true, true}};

/// Grouped queries, a head width that is not hidden / heads, and no size that is a multiple of a
/// vector.
ModelConfig oddConfig(DataType type, const Variant &variant) {
  return {.family = variant.family,
          .type = type,
          .layers = 4,
          .hidden = 37,
          .heads = 6,
          .kvHeads = 2,
          .headWidth = 10,
          .ffn = 51,
          .vocab = 43,
          .tiedHead = variant.tiedHead,
          .recomputesLayers = variant.recomputesLayers};
}
constexpr MicrobatchCaps kCaps{.tokens = 40, .segments = 4, .segmentTokens = 17};

std::vector<Batch> oddBatches(std::uint32_t vocab) {
  std::vector<Batch> batches;
  for (const std::vector<std::int32_t> &lengths :
       {std::vector{17, 3, 15, 5}, {1, 17, 11}, {9, 0, 2}, {0}, {17, 17, 6}})
    batches.push_back(randomBatch(lengths, vocab, batches.size()));
  batches[0].labels[4] = -100; // a token without a label
  return batches;
}

std::uint64_t allocations() { return allocationsSoFar().value(); }

class StageTest : public testing::TestWithParam<std::tuple<DataType, Variant>> {
protected:
  const DataType type = std::get<0>(GetParam());
  const Kernels &kernels = *nativeKernels(type);
  const ModelConfig config = oddConfig(type, std::get<1>(GetParam()));
  const std::vector<Batch> batches = oddBatches(config.vocab);

  struct Outcome {
    std::vector<double> losses;
    ModelRun::Tensors gradients, weights, parameters;
    bool operator==(const Outcome &) const = default;
  };
  Outcome train(std::uint32_t stages, Backward kind, MicrobatchCaps caps = kCaps) const {
    return train(config, stages, kind, caps);
  }
  Outcome train(const ModelConfig &model, std::uint32_t stages, Backward kind,
                MicrobatchCaps caps = kCaps) const {
    ModelRun run(model, stages, caps, kernels, 7);
    Outcome outcome;
    for (int step = 0; step < 3; ++step)
      outcome.losses.push_back(run.step(batches, kind));
    outcome.gradients = run.gradients();
    outcome.weights = run.weights();
    outcome.parameters = run.parameters();
    EXPECT_TRUE(run.fencesIntact());
    return outcome;
  }
};

TEST_P(StageTest, LossesAreNumbersAndFall) {
  const Outcome outcome = train(1, Backward::Combined);
  EXPECT_NEAR(outcome.losses[0], std::log(config.vocab), 0.1);
  EXPECT_LT(outcome.losses[2], outcome.losses[0]);
}

TEST_P(StageTest, SplitBackwardHasTheBitsOfTheCombinedOne) {
  for (std::uint32_t stages : {1, 2, 4})
    EXPECT_TRUE(train(stages, Backward::Combined) == train(stages, Backward::Split)) << stages;
}

TEST_P(StageTest, LayersThatRunAgainHaveTheBitsOfThoseThatAreKept) {
  ModelConfig other = config;
  other.recomputesLayers = !config.recomputesLayers;
  for (Backward kind : {Backward::Combined, Backward::Split})
    EXPECT_TRUE(train(other, 2, kind) == train(2, kind));
}

TEST_P(StageTest, MicrobatchesInFlightDoNotTouchEachOther) {
  ModelRun run(config, 2, kCaps, kernels, 7);
  Outcome paired;
  for (int step = 0; step < 3; ++step)
    paired.losses.push_back(run.pairedStep(batches));
  paired.gradients = run.gradients();
  paired.weights = run.weights();
  paired.parameters = run.parameters();
  EXPECT_TRUE(paired == train(2, Backward::Split));
}

TEST_P(StageTest, AnyNumberOfStagesHasTheSameBits) {
  const Outcome whole = train(1, Backward::Combined);
  for (std::uint32_t stages : {2, 3, 4})
    EXPECT_TRUE(train(stages, Backward::Combined) == whole) << stages;
}

TEST_P(StageTest, LargerCapsHaveTheSameBits) {
  const MicrobatchCaps larger{.tokens = 101, .segments = 9, .segmentTokens = 50};
  EXPECT_TRUE(train(2, Backward::Split, larger) == train(2, Backward::Split));
}

TEST_P(StageTest, GradientsOfPackedSegmentsAreSumsOverSegments) {
  ModelRun packed(config, 2, kCaps, kernels, 7), single(config, 2, kCaps, kernels, 7);
  const Batch batch = batches[0];
  double sum = 0;
  for (std::size_t segment = 0; segment + 1 < batch.offsets.size(); ++segment) {
    const std::int32_t begin = batch.offsets[segment], end = batch.offsets[segment + 1];
    const Batch alone{{batch.tokens.begin() + begin, batch.tokens.begin() + end},
                      {batch.labels.begin() + begin, batch.labels.begin() + end},
                      {0, end - begin}};
    sum += single.forward(alone);
    single.backward(alone, segment == 0, Backward::Combined);
  }
  EXPECT_DOUBLE_EQ(packed.forward(batch), sum);
}

TEST_P(StageTest, AnEmptyMicrobatchWritesZeroGradientsAndNoLoss) {
  ModelRun run(config, 2, kCaps, kernels, 7);
  const Batch empty = randomBatch({0, 0}, config.vocab, 1);
  for (Backward kind : {Backward::Combined, Backward::Split}) {
    EXPECT_EQ(run.forward(empty), 0);
    run.backward(empty, /*overwrite=*/true, kind);
    for (const auto &[name, bytes] : run.gradients())
      for (std::byte value : bytes)
        ASSERT_EQ(value, std::byte(0)) << name;
  }
}

// Behind the last byte that a task uses is what its kernels may leave of their workspace.
TEST_P(StageTest, WorkspacesAreUsedToTheirEnds) {
  if (type == DataType::BFloat16)
    GTEST_SKIP() << "its products have room for a whole block of rows, however few a call has";
  const Kernels *widest = nativeKernelsFor(Isa::Avx512, type);
  if (!widest)
    GTEST_SKIP() << "the widest vectors are not here: " << nativeRefusal(type);
  const std::size_t lastRow = 32 * sizeOf(type), slack = unusedWorkspace(type) + lastRow + 64;
  ModelRun run(config, 2, {.tokens = 40, .segments = 3, .segmentTokens = 17}, *widest, 7);
  const Batch batch = randomBatch({17, 17, 6}, config.vocab, 3); // all tokens, the longest segment
  run.forward(batch);
  const auto unused = [](const GuardedRegion &space) { return space.bytes() - space.usedBytes(); };
  for (const ModelRun::Part &part : run.parts)
    EXPECT_LE(unused(part.forwardSpace), slack);
  run.backward(batch, true, Backward::Combined);
  for (const ModelRun::Part &part : run.parts)
    EXPECT_LE(unused(part.backwardSpace), slack);
  run.backward(batch, true, Backward::Split);
  for (const ModelRun::Part &part : run.parts) {
    EXPECT_LE(unused(part.inputSpace), slack);
    EXPECT_LE(unused(part.weightSpace), slack);
  }
}

// Slices: samples of one length, so many tokens at a time.
class SlicedStageTest : public StageTest {
protected:
  static MicrobatchCaps cut(std::uint32_t slices) {
    return {.tokens = 36 / slices, .segments = 3, .segmentTokens = 12, .slices = slices};
  }
  Outcome trainCut(const ModelConfig &model, std::uint32_t stages, std::uint32_t slices,
                   Backward kind) const {
    ModelRun run(model, stages, cut(slices), kernels, 7);
    Outcome outcome;
    for (int step = 0; step < 2; ++step)
      outcome.losses.push_back(run.slicedStep(alike, kind));
    outcome.gradients = run.gradients();
    outcome.weights = run.weights();
    outcome.parameters = run.parameters();
    EXPECT_TRUE(run.fencesIntact());
    return outcome;
  }
  const std::vector<Batch> alike = {randomBatch({12, 12, 12}, config.vocab, 1),
                                    randomBatch({12, 12, 12}, config.vocab, 2)};
};

// One more order of the same sums. Measured: 1.4e-15, 6.8e-7 and, where gradients of keys and
// values are rounded, 6.6e-5 of the largest element.
TEST_P(SlicedStageTest, SlicesTrainAsWholeSamplesDo) {
  const double most = type == DataType::Float64 ? 1e-14 : type == DataType::Float32 ? 3e-6 : 1e-3;
  ModelRun whole(config, 2, cut(1), kernels, 7);
  const double expected = whole.slicedStep(alike, Backward::Combined);
  for (std::uint32_t slices : {2, 3, 12}) {
    ModelRun run(config, 2, cut(slices), kernels, 7);
    // A row of the forward has the same bits; losses are added slice by slice.
    EXPECT_NEAR(run.slicedStep(alike, Backward::Combined), expected, 1e-14) << slices;
    for (const auto &[name, wanted] : whole.gradients()) {
      const std::size_t count = wanted.size() / sizeOf(kernels.sumType());
      const auto one = doubles(wanted.data(), count, kernels.sumType()),
                 other = doubles(run.gradients().at(name).data(), count, kernels.sumType());
      double largest = 0, distance = 0;
      for (std::size_t index = 0; index < count; ++index) {
        largest = std::max(largest, std::abs(one[index]));
        distance = std::max(distance, std::abs(one[index] - other[index]));
      }
      EXPECT_LE(distance, most * largest) << name << " in " << slices;
    }
  }
}

TEST_P(SlicedStageTest, TheBitsAreThoseOfTheSlicesAlone) {
  ModelConfig again = config;
  again.recomputesLayers = !config.recomputesLayers;
  for (std::uint32_t slices : {2, 4}) {
    const Outcome expected = trainCut(config, 1, slices, Backward::Combined);
    EXPECT_TRUE(trainCut(config, 1, slices, Backward::Split) == expected) << slices;
    EXPECT_TRUE(trainCut(config, 4, slices, Backward::Combined) == expected) << slices;
    EXPECT_TRUE(trainCut(again, 2, slices, Backward::Combined) == expected) << slices;
    EXPECT_TRUE(trainCut(again, 2, slices, Backward::Split) == expected) << slices;
  }
  EXPECT_FALSE(trainCut(config, 1, 2, Backward::Combined) ==
               trainCut(config, 1, 3, Backward::Combined))
      << "or this test could not fail";
}

TEST_P(StageTest, NothingIsAllocatedInATask) {
  if (!allocationsSoFar())
    GTEST_SKIP() << "AddressSanitizer counts instead of us";
  ModelRun run(config, 2, kCaps, kernels, 7);
  const auto work = [&] {
    for (Backward kind : {Backward::Combined, Backward::Split}) {
      run.forward(batches[0]);
      run.backward(batches[0], true, kind);
    }
  };
  work();
  const std::uint64_t before = allocations();
  work();
  EXPECT_EQ(allocations() - before, 0u);
  void *volatile kept = std::malloc(1); // the counter counts
  std::free(kept);
  EXPECT_EQ(allocations() - before, 1u);
}

TEST_P(StageTest, UpdatesAllocateNothing) {
  if (!allocationsSoFar())
    GTEST_SKIP() << "AddressSanitizer counts instead of us";
  ModelRun run(config, 1, kCaps, kernels, 7);
  run.forward(batches[0]);
  run.backward(batches[0], true, Backward::Combined);
  ModelRun::Part &part = run.parts[0];
  const StageShare all = wholeOf(part.spec, type);
  std::vector<double> squares(kSquareNumbers);
  const std::uint64_t before = allocations();
  scaleGradients(kernels, part.spec, all, 40, part.gradients.data());
  squareNorm(kernels, part.spec, all, part.gradients.data(), squares.data());
  optimize(kernels, part.spec, all, {0, 1e-3, 0.9, 0.999, 1e-8, 0.01, 1}, part.gradients.data(),
           part.weights.data(), part.moments.data());
  EXPECT_EQ(allocations() - before, 0u);
}

TEST_P(StageTest, BothBuildsHaveTheSameBits) {
  const Kernels *narrow = nativeKernelsFor(Isa::Avx2, type);
  const Kernels *wide = nativeKernelsFor(Isa::Avx512, type);
  if (!narrow || !wide)
    GTEST_SKIP() << "this machine runs only one build";
  ModelRun first(config, 2, kCaps, *narrow, 7), second(config, 2, kCaps, *wide, 7);
  for (int step = 0; step < 3; ++step)
    EXPECT_EQ(first.step(batches, Backward::Combined), second.step(batches, Backward::Split));
  EXPECT_EQ(first.weights(), second.weights());
  EXPECT_EQ(first.parameters(), second.parameters());
}

TEST_P(StageTest, WeightsAreTheRoundedParameters) {
  const Outcome outcome = train(2, Backward::Combined);
  for (const auto &[name, bytes] : outcome.parameters) {
    const std::size_t count = bytes.size() / sizeOf(kernels.sumType());
    std::vector<std::byte> rounded(count * sizeOf(type));
    kernels.round(std::int64_t(count), bytes.data(), rounded.data());
    EXPECT_EQ(outcome.weights.at(name), rounded) << name;
  }
  // Masters have bits that weights have not.
  EXPECT_EQ(outcome.parameters == outcome.weights, type != DataType::BFloat16);
}

std::string nameOfCase(const testing::TestParamInfo<std::tuple<DataType, Variant>> &info) {
  return std::string(nameOf(std::get<0>(info.param))) + "_" + std::get<1>(info.param).name;
}
const auto kCases =
    testing::Combine(testing::Values(DataType::Float32, DataType::Float64, DataType::BFloat16),
                     testing::ValuesIn(kVariants));

INSTANTIATE_TEST_SUITE_P(Types, StageTest, kCases, nameOfCase);
INSTANTIATE_TEST_SUITE_P(Types, SlicedStageTest, kCases, nameOfCase);

} // namespace
} // namespace vime
