// Tensors and bytes of known models; what is no model is refused.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/ModelSpec/Masters.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {
namespace {

using testing::HasSubstr;

const ModelConfig kModel{.layers = 8,
                         .hidden = 256,
                         .heads = 8,
                         .kvHeads = 8,
                         .headWidth = 32,
                         .ffn = 688,
                         .vocab = 256};
constexpr MicrobatchCaps kCaps{.tokens = 512, .segments = 4, .segmentTokens = 128};

TEST(ModelSpec, BytesOfAKnownModel) {
  const StageSpec spec = stageSpec(kModel, splitLayers(kModel, 1)[0], kCaps);
  const std::uint64_t h = 256, f = 688, v = 256, t = 512, layers = 8;
  EXPECT_EQ(spec.weightBytes, 4 * (2 * v * h + h + layers * (4 * h * h + 3 * h * f + 2 * h)));
  // Words per token and layer: 6H + 2F + heads + 2 before the input gradient, 2H + F new at it.
  EXPECT_EQ(spec.stashBytes, 4 * t * (layers * (6 * h + 2 * f + 8 + 2) + h + 1 + v));
  EXPECT_EQ(spec.weightStashBytes, 4 * (t * (layers * (2 * h + f) + h) + (2 * layers + 1) * h));
  EXPECT_EQ(spec.stashBytes, 48'924'672u);
  EXPECT_EQ(spec.weightStashBytes, 20'202'496u);
  EXPECT_EQ(spec.boundaryBytesPerToken, 4 * h);
}

TEST(ModelSpec, BytesFollowTheFormulasOfTheReadme) {
  const ModelConfig config{
      .layers = 6, .hidden = 64, .heads = 16, .kvHeads = 4, .headWidth = 8, .ffn = 48, .vocab = 80};
  const std::uint64_t h = 64, q = 128, k = 32, f = 48, v = 80, t = 32, n = 2;
  const MicrobatchCaps caps{.tokens = 32, .segments = 2, .segmentTokens = 16};
  const auto stages = splitLayers(config, 3);
  for (int stage = 0; stage < 3; ++stage) {
    const std::uint64_t head = stage == 2, states = n - 1 + (stage == 0) + head;
    const StageSpec spec = stageSpec(config, stages[stage], caps);
    const StageRegions regions = stageRegions(config, stages[stage], caps);
    EXPECT_EQ(spec.stashBytes,
              4 * t * (states * h + n * (h + 2 * q + 2 * k + 16 + 2 + 2 * f) + head * (1 + v)));
    EXPECT_EQ(spec.weightStashBytes, 4 * (t * (states * h + n * (f + h)) + n * 2 * h + head * h));
    EXPECT_EQ(regions.forwardKernels, 4 * t * h);
    EXPECT_EQ(regions.inputKernels, 4 * t * q);
    EXPECT_EQ(regions.weightKernels, 4 * t * h);
    const std::uint64_t turns = states < 2 ? states : 2;
    EXPECT_EQ(regions.backwardKernels,
              4 * (t * q + t * (f + h) + 2 * h + turns * t * h + head * h));
    EXPECT_LT(spec.backwardWorkspace,
              spec.backwardInputWorkspace + spec.weightStashBytes + spec.backwardWeightWorkspace);
  }
}

TEST(ModelSpec, StatesAtTheEdgesBelongToThePlan) {
  const std::uint64_t state = 4 * 512 * 256;
  const auto stages = splitLayers(kModel, 4);
  const auto kept = [&](int stage) { return stageRegions(kModel, stages[stage], kCaps).states; };
  EXPECT_EQ(kept(0).count(), 2u); // embedded, and between its two layers; its output is a buffer
  EXPECT_EQ(kept(1).count(), 1u);
  EXPECT_EQ(kept(3).count(), 2u); // between its layers, and what the head reads
  EXPECT_EQ(kept(1).stride, state);
  EXPECT_FALSE(kept(1).holds(0));
  EXPECT_TRUE(kept(1).holds(1));
  EXPECT_FALSE(kept(1).holds(2));
}

TEST(ModelSpec, TensorsOfALayerWithGroupedQueries) {
  const ModelConfig config{.type = DataType::Float64,
                           .layers = 3,
                           .hidden = 10,
                           .heads = 4,
                           .kvHeads = 2,
                           .headWidth = 6,
                           .ffn = 7,
                           .vocab = 11};
  const StageSpec spec = stageSpec(config, splitLayers(config, 3)[1], kCaps);
  std::string table;
  for (const TensorSpec &tensor : spec.tensors) {
    table += "\n" + tensor.name + " [";
    for (std::uint64_t extent : tensor.shape)
      table += " " + std::to_string(extent);
    table += " ] at " + std::to_string(tensor.offset);
    for (const SourceTensor &source : tensor.sources)
      table += "\n  " + std::to_string(source.row) + "+" + std::to_string(source.rows) + " " +
               source.name;
  }
  EXPECT_EQ(table, R"(
layers.1.norm1 [ 10 ] at 0
  0+10 model.layers.1.input_layernorm.weight
layers.1.qkv [ 48 10 ] at 16
  0+24 model.layers.1.self_attn.q_proj.weight
  24+12 model.layers.1.self_attn.k_proj.weight
  36+12 model.layers.1.self_attn.v_proj.weight
layers.1.o [ 10 24 ] at 496
  0+10 model.layers.1.self_attn.o_proj.weight
layers.1.norm2 [ 10 ] at 736
  0+10 model.layers.1.post_attention_layernorm.weight
layers.1.gate_up [ 14 10 ] at 752
  0+7 model.layers.1.mlp.gate_proj.weight
  7+7 model.layers.1.mlp.up_proj.weight
layers.1.down [ 10 7 ] at 896
  0+10 model.layers.1.mlp.down_proj.weight)");
  EXPECT_EQ(spec.weightBytes, 8u * (896 + 72));
}

TEST(ModelSpec, FamiliesAddTensorsToALayer) {
  const auto namesOf = [](ModelFamily family) {
    ModelConfig config = kModel;
    config.family = family;
    std::string names;
    for (const TensorSpec &tensor : stageSpec(config, splitLayers(config, 8)[1], kCaps).tensors) {
      names += tensor.name.substr(std::string("layers.1").size());
      for (const SourceTensor &source : tensor.sources)
        if (tensor.name.find("bias") != std::string::npos ||
            source.name.find("_norm.") != source.name.npos)
          names += " " + source.name.substr(std::string("model.layers.1").size());
    }
    return names;
  };
  EXPECT_EQ(namesOf(ModelFamily::Qwen2),
            ".norm1.qkv.qkv_bias .self_attn.q_proj.bias .self_attn.k_proj.bias "
            ".self_attn.v_proj.bias.o.norm2.gate_up.down");
  EXPECT_EQ(namesOf(ModelFamily::Qwen3),
            ".norm1.qkv.q_norm .self_attn.q_norm.weight.k_norm .self_attn.k_norm.weight"
            ".o.norm2.gate_up.down");
}

TEST(ModelSpec, NormsOfHeadsKeepWhatTheyTake) {
  ModelConfig config = kModel;
  const StageSpec plain = stageSpec(config, splitLayers(config, 4)[1], kCaps);
  config.family = ModelFamily::Qwen3;
  const StageSpec normed = stageSpec(config, splitLayers(config, 4)[1], kCaps);
  const std::uint64_t t = 512, n = 2, q = 256, k = 256, heads = 16, w = 32;
  EXPECT_EQ(normed.stashBytes - plain.stashBytes, 4 * t * n * (q + k + heads));
  EXPECT_EQ(normed.weightStashBytes - plain.weightStashBytes, 4 * n * 2 * w);
}

TEST(ModelSpec, ATiedMatrixBelongsToTheEmbedding) {
  ModelConfig config = kModel;
  config.tiedHead = true;
  const auto stages = splitLayers(config, 4);
  const std::uint64_t matrix = 4 * 256 * 256;
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    const StageSpec spec = stageSpec(config, stages[stage], kCaps);
    EXPECT_EQ(spec.tensors.front().name == "embedding", stage == 0);
    EXPECT_NE(spec.tensors.back().name, "head");
    EXPECT_EQ(spec.tiedWeightBytes, stage == 0 || stage == 3 ? matrix : 0);
    EXPECT_EQ(spec.tiedGradientBytes, stage == 0 || stage == 3 ? matrix : 0);
  }
}

TEST(ModelSpec, RecomputedLayersKeepTheirInputsAlone) {
  ModelConfig config = kModel;
  const auto stages = splitLayers(config, 2);
  const std::uint64_t t = 512, h = 256, f = 688, v = 256, n = 4;
  const std::uint64_t layer = 4 * t * (5 * h + 2 * f + 8 + 2); // all but its input
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    config.recomputesLayers = false;
    const StageSpec kept = stageSpec(config, stages[stage], kCaps);
    config.recomputesLayers = true;
    const StageSpec again = stageSpec(config, stages[stage], kCaps);
    const std::uint64_t head = stage == 1;
    EXPECT_EQ(again.stashBytes, 4 * t * (n * h + head * (1 + v)));
    EXPECT_EQ(kept.stashBytes - again.stashBytes, n * layer);
    EXPECT_EQ(again.forwardWorkspace - kept.forwardWorkspace, layer);
    EXPECT_EQ(again.weightStashBytes - kept.weightStashBytes, n * layer);
    EXPECT_GE(again.backwardWorkspace - kept.backwardWorkspace, layer);
  }
}

TEST(ModelSpec, ARecomputedLayerAloneStillHasAStash) {
  ModelConfig config = kModel;
  config.recomputesLayers = true;
  // Its input and output are buffers of the plan, and a plan has no empty buffers.
  EXPECT_EQ(stageSpec(config, splitLayers(config, 8)[3], kCaps).stashBytes, kRegionAlignment);
}

TEST(ModelSpec, EarlierStagesGetOneLayerMore) {
  ModelConfig config = kModel;
  config.layers = 7;
  const auto stages = splitLayers(config, 3);
  EXPECT_EQ(stages, (std::vector<StageRange>{
                        {0, 3, true, false}, {3, 5, false, false}, {5, 7, false, true}}));
}

TEST(ModelSpec, RegionsAreAlignedForAnySize) {
  ModelConfig config = kModel;
  config.hidden = 37, config.headWidth = 10, config.kvHeads = 2, config.ffn = 51, config.vocab = 43;
  for (const DataType type : {DataType::Float32, DataType::BFloat16})
    for (StageRange range : splitLayers(config, 4)) {
      config.type = type;
      const StageSpec spec =
          stageSpec(config, range, {.tokens = 13, .segments = 2, .segmentTokens = 9});
      for (std::uint64_t bytes :
           {spec.weightBytes, spec.gradientBytes, mastersOffset(spec), spec.stashBytes,
            spec.weightStashBytes, spec.forwardWorkspace, spec.backwardWorkspace,
            spec.backwardInputWorkspace, spec.backwardWeightWorkspace})
        EXPECT_EQ(bytes % kRegionAlignment, 0u);
      for (const TensorSpec &tensor : spec.tensors)
        EXPECT_EQ(tensor.offset * sizeOf(type) % kRegionAlignment, 0u) << tensor.name;
    }
}

TEST(ModelSpec, BFloat16HalvesWhatPassesAndKeepsWhatAddsUp) {
  ModelConfig config = kModel, narrow = kModel;
  config.tiedHead = narrow.tiedHead = true;
  narrow.type = DataType::BFloat16;
  for (StageRange range : splitLayers(config, 4)) {
    const StageSpec wide = stageSpec(config, range, kCaps), half = stageSpec(narrow, range, kCaps);
    EXPECT_EQ(half.weightBytes, wide.weightBytes / 2);
    EXPECT_EQ(half.boundaryBytesPerToken, wide.boundaryBytesPerToken / 2);
    EXPECT_EQ(half.tiedWeightBytes, wide.tiedWeightBytes / 2);
    EXPECT_EQ(half.gradientBytes, wide.gradientBytes);
    EXPECT_EQ(half.tiedGradientBytes, wide.tiedGradientBytes);
    EXPECT_EQ(half.momentBytes, wide.momentBytes + wide.gradientBytes); // the masters
    EXPECT_EQ(mastersOffset(half), wide.momentBytes);
    EXPECT_TRUE(hasMasters(half) && !hasMasters(wide));
    // Of each layer two reciprocals and the log-sums stay whole, of the head one reciprocal.
    const std::uint64_t words =
        kCaps.tokens * ((range.end - range.first) * (2ull + config.heads) + range.head);
    EXPECT_EQ(half.stashBytes, wide.stashBytes / 2 + 2 * words);
    for (std::size_t tensor = 0; tensor < half.tensors.size(); ++tensor)
      EXPECT_EQ(half.tensors[tensor].offset, wide.tensors[tensor].offset);
  }
}

TEST(ModelSpec, EmptyFamiliesTakeAlmostNothing) {
  for (ModelFamily family : {ModelFamily::Null, ModelFamily::Sleep}) {
    const ModelConfig config{.family = family, .layers = 4};
    ASSERT_TRUE(check(config).ok());
    for (StageRange range : splitLayers(config, 4)) {
      const StageSpec spec = stageSpec(config, range, kCaps);
      EXPECT_EQ(spec.tensors.size(), 1u);
      EXPECT_EQ(spec.weightBytes, 64u);
      EXPECT_EQ(spec.stashBytes, 64u);
      EXPECT_EQ(spec.boundaryBytesPerToken, 4u);
    }
  }
}

TEST(ModelSpec, AUsersModuleHasAFlatVectorForEachMemberAndItsCapForEachTask) {
  const ModelConfig config{.family = ModelFamily::TorchScript,
                           .layers = 4,
                           .hidden = 16,
                           .vocab = 256,
                           .embeddingElements = 4096,
                           .layerElements = 770,
                           .headElements = 4100,
                           .taskBytes = 1000};
  ASSERT_TRUE(check(config).ok());
  const auto stages = splitLayers(config, 2);
  const StageSpec first = stageSpec(config, stages[0], kCaps),
                  last = stageSpec(config, stages[1], kCaps);
  std::string names;
  for (const StageSpec &spec : {first, last})
    for (const TensorSpec &tensor : spec.tensors)
      names += tensor.name + " " + std::to_string(tensor.elements()) + ", ";
  EXPECT_EQ(names, "embedding 4096, layers.0 770, layers.1 770, layers.2 770, layers.3 770, "
                   "head 4100, ");
  EXPECT_EQ(first.weightBytes, 4 * 4096 + 2 * (4 * 770 + 56)); // at multiples of 64 bytes
  EXPECT_EQ(first.boundaryBytesPerToken, 4 * 16u);
  EXPECT_EQ(first.stashBytes, 64u);
  EXPECT_EQ(last.stashBytes, 4 * 512 * 256u); // logits
  for (const std::uint64_t workspace : {last.forwardWorkspace, last.backwardWorkspace,
                                        last.backwardInputWorkspace, last.backwardWeightWorkspace})
    EXPECT_EQ(workspace, 1024u);
  ModelConfig without = config;
  without.taskBytes = 0;
  EXPECT_EQ(check(without).message(), "`task_memory` is 0, must be from 1 to 1099511627776");
}

TEST(ModelSpec, WhatIsNoModelIsRefused) {
  struct Case {
    void (*spoil)(ModelConfig &);
    const char *message;
  };
  const Case kCases[] = {
      {[](ModelConfig &c) { c.layers = 0; }, "`layers` is 0, must be from 1 to 65536"},
      {[](ModelConfig &c) { c.vocab = 1u << 31; }, "`vocab` is 2147483648"},
      {[](ModelConfig &c) { c.kvHeads = 3; }, "8 heads cannot share 3 key-value heads evenly"},
      {[](ModelConfig &c) { c.headWidth = 7; }, "head width 7 is odd"},
      {[](ModelConfig &c) { c.heads = c.kvHeads = c.headWidth = 1 << 19; }, "wider than"},
      {[](ModelConfig &c) { c.ropeTheta = NAN; }, "rope theta is nan"},
      {[](ModelConfig &c) { c.normEpsilon = 0; }, "norm epsilon is 0"},
      {[](ModelConfig &c) { c.type = DataType::Int32; }, "a model of type int32"},
      {[](ModelConfig &c) { c.family = ModelFamily::Sleep, c.forwardSeconds = -1; }, "-1 s"},
      {[](ModelConfig &c) { c.type = DataType::BFloat16, c.kernels = KernelLibrary::LibTorch; },
       "the kernels of libtorch compute in float32 and float64"},
  };
  EXPECT_TRUE(check(kModel).ok());
  for (const Case &wrong : kCases) {
    ModelConfig config = kModel;
    wrong.spoil(config);
    const Status status = check(config);
    EXPECT_EQ(status.code(), StatusCode::InvalidInput);
    EXPECT_THAT(status.message(), HasSubstr(wrong.message));
  }
}

} // namespace
} // namespace vime
