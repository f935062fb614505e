// Stages without arithmetic, and the checks in front of every stage.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "runtime/Model/Update.h"
#include "tests/model/ModelRun.h"

namespace vime {
namespace {

constexpr MicrobatchCaps kCaps{.tokens = 8, .segments = 2, .segmentTokens = 8};
const Kernels &kernels() { return *nativeKernels(DataType::Float32); }

TEST(NullStage, HasNoLossNoGradientAndALegalUpdate) {
  ModelRun run({.family = ModelFamily::Null, .layers = 4}, 2, kCaps, kernels(), 7);
  const std::vector<Batch> batches(3, randomBatch({4, 4}, 256, 1));
  EXPECT_EQ(run.step(batches, ModelRun::Backward::Split), 0);
  EXPECT_EQ(run.step(batches, ModelRun::Backward::Combined), 0);
  EXPECT_TRUE(run.fencesIntact());
}

TEST(SleepStage, LastsAsDeclared) {
  const ModelConfig config{.family = ModelFamily::Sleep,
                           .layers = 1,
                           .forwardSeconds = 0.02,
                           .backwardInputSeconds = 0.01,
                           .backwardWeightSeconds = 0.03};
  ModelRun run(config, 1, kCaps, kernels(), 7);
  const Batch batch = randomBatch({8}, 256, 1);
  for (auto kind : {ModelRun::Backward::Split, ModelRun::Backward::Combined}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run.forward(batch), 0);
    run.backward(batch, true, kind);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(60));
  }
}

TEST(MakeStage, RefusesWhatDoesNotFit) {
  const ModelConfig config{.family = ModelFamily::Null, .layers = 4};
  const StageRange whole{0, 4, true, true};
  EXPECT_TRUE(makeStage(config, whole, kCaps, kernels()).ok());
  for (StageRange range : {StageRange{0, 5, true, true}, {2, 2, false, false}, {0, 2, true, true}})
    EXPECT_THAT(makeStage(config, range, kCaps, kernels()).status().message(),
                testing::HasSubstr("are no stage of a model with 4 layers"));
  EXPECT_FALSE(makeStage(config, whole, {8, 1, 9}, kernels()).ok());
  EXPECT_THAT(makeStage(config, whole, kCaps, *nativeKernels(DataType::Float64)).status().message(),
              testing::HasSubstr("a float32 model on float64 kernels"));
}

TEST(Segments, FromOutsideAreChecked) {
  const auto fault = [](std::vector<std::int32_t> offsets, std::int64_t tokens) {
    return checkSegments({offsets.data(), std::int32_t(offsets.size()) - 1}, tokens, kCaps)
        .message();
  };
  EXPECT_EQ(fault({0, 3, 8}, 8), "");
  EXPECT_EQ(fault({0, 3, 3}, 3), "");
  EXPECT_THAT(fault({0, 3, 8}, 7), testing::HasSubstr("for 7 tokens"));
  EXPECT_THAT(fault({0, 9}, 9), testing::HasSubstr("room for 2 of 8"));
  EXPECT_THAT(fault({1, 3}, 3), testing::HasSubstr("segments for 3 tokens"));
  EXPECT_THAT(fault({0, 5, 3}, 3), testing::HasSubstr("segment 1 has -2 tokens"));
  EXPECT_THAT(fault({0, 1, 2, 3}, 3), testing::HasSubstr("3 segments"));
}

TEST(Initialize, DependsOnNameAndSeedOnly) {
  const ModelConfig config{
      .layers = 3, .hidden = 12, .heads = 2, .kvHeads = 1, .headWidth = 6, .ffn = 10, .vocab = 16};
  const auto weights = [&](std::uint32_t stages, std::uint64_t seed) {
    return ModelRun(config, stages, kCaps, kernels(), seed).weights();
  };
  EXPECT_EQ(weights(1, 7), weights(3, 7));
  EXPECT_NE(weights(1, 7), weights(1, 8));
  const auto tensors = weights(1, 7);
  EXPECT_NE(tensors.at("model.layers.0.mlp.gate_proj.weight"),
            tensors.at("model.layers.0.mlp.up_proj.weight"));
  EXPECT_NE(tensors.at("model.layers.0.mlp.gate_proj.weight"),
            tensors.at("model.layers.1.mlp.gate_proj.weight"));
}

} // namespace
} // namespace vime
