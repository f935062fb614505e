// The work of a decoder's tasks against what people count by hand: two operations for each
// parameter and token, and attention.
#include "compiler/Machine/Work.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

using plan::Opcode;

ModelConfig sevenBillion() {
  return {.family = ModelFamily::Llama,
          .type = DataType::BFloat16,
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kvHeads = 32,
          .headWidth = 128,
          .ffn = 11008,
          .vocab = 32000};
}
constexpr MicrobatchCaps kOneSample{.tokens = 4096, .segments = 1, .segmentTokens = 4096};

/// Elements of all matrices of some layers, as ModelSpec lists them.
double matricesOf(const ModelConfig &config, StageRange range) {
  double elements = 0;
  for (const TensorSpec &tensor : stageSpec(config, range, kOneSample).tensors)
    elements += tensor.shape.size() == 2 ? static_cast<double>(tensor.elements()) : 0;
  return elements;
}

double flopsOf(const ModelConfig &config, const MicrobatchCaps &caps, Opcode opcode,
               StageRange range) {
  return workOf(config, caps, opcode).of(range).flops;
}

// Queries and keys of head width d: 2d operations for a weight and 2d for its value, of half of all
// pairs and the diagonal.
double attentionByHand(const ModelConfig &config, double sequence) {
  return 4.0 * config.heads * config.headWidth * sequence * (sequence + 1) / 2;
}

TEST(Work, ForwardIsTwoOperationsForEachParameterAndToken) {
  const ModelConfig model = sevenBillion();
  const StageRange middle{.first = 4, .end = 8}, last{.first = 31, .end = 32, .head = true};
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Forward, middle),
                   2 * 4096 * matricesOf(model, middle) + 4 * attentionByHand(model, 4096));
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Forward, last),
                   2 * 4096 * matricesOf(model, last) + attentionByHand(model, 4096));
  EXPECT_EQ(flopsOf(model, kOneSample, Opcode::Evaluate, last),
            flopsOf(model, kOneSample, Opcode::Forward, last));
}

TEST(Work, GroupedHeadsHaveSmallerProductsAndTheSameAttention) {
  ModelConfig model = sevenBillion();
  model.kvHeads = 8;
  const StageRange middle{.first = 4, .end = 8};
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Forward, middle),
                   2 * 4096 * matricesOf(model, middle) + 4 * attentionByHand(model, 4096));
}

// Of a layer's attention two products forward and five backward; each other product twice more.
TEST(Work, BackwardIsTwiceTheProductsAndFiveHalvesOfAttention) {
  const ModelConfig model = sevenBillion();
  const StageRange middle{.first = 4, .end = 5};
  const double products = 2 * 4096 * matricesOf(model, middle);
  const double attention = attentionByHand(model, 4096);
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::BackwardInput, middle),
                   products + 2.5 * attention);
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::BackwardWeight, middle), products);
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Backward, middle),
                   2 * products + 2.5 * attention);
}

// "6 N D" of the literature: no embedding, attention apart.
TEST(Work, AStepOfAllLayersIsSixOperationsForEachParameterAndToken) {
  const ModelConfig model = sevenBillion();
  const StageRange all{.first = 0, .end = 32, .embedding = true, .head = true};
  const double flops = flopsOf(model, kOneSample, Opcode::Forward, all) +
                       flopsOf(model, kOneSample, Opcode::Backward, all);
  const double parameters = matricesOf(model, all) - 32000.0 * 4096;
  EXPECT_NEAR(parameters, 6.6e9, 0.1e9);
  EXPECT_DOUBLE_EQ(flops, 6 * parameters * 4096 + 32 * 3.5 * attentionByHand(model, 4096));
}

TEST(Work, ShortSamplesHaveLessAttention) {
  const ModelConfig model = sevenBillion();
  const StageRange middle{.first = 0, .end = 1};
  MicrobatchCaps packed = kOneSample;
  packed.segments = 8;
  packed.segmentTokens = 512;
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Forward, middle) -
                       flopsOf(model, packed, Opcode::Forward, middle),
                   attentionByHand(model, 4096) - 8 * attentionByHand(model, 512));
}

// All slices of a sample together do what the whole one does.
TEST(Work, SlicesShareTheWorkOfASample) {
  const ModelConfig model = sevenBillion();
  const StageRange middle{.first = 0, .end = 1};
  const MicrobatchCaps slice{.tokens = 1024, .segments = 1, .segmentTokens = 4096, .slices = 4};
  for (const Opcode opcode : {Opcode::Forward, Opcode::BackwardInput, Opcode::BackwardWeight})
    EXPECT_DOUBLE_EQ(4 * flopsOf(model, slice, opcode, middle),
                     flopsOf(model, kOneSample, opcode, middle));
}

// A layer's forward runs once more but for its last product.
TEST(Work, RecomputedLayersRunTheirForwardAgain) {
  ModelConfig model = sevenBillion();
  const StageRange middle{.first = 0, .end = 1};
  const double before = flopsOf(model, kOneSample, Opcode::Backward, middle);
  model.recomputesLayers = true;
  EXPECT_DOUBLE_EQ(flopsOf(model, kOneSample, Opcode::Backward, middle) - before,
                   flopsOf(model, kOneSample, Opcode::Forward, middle) - 2.0 * 4096 * 4096 * 11008);
  EXPECT_EQ(flopsOf(model, kOneSample, Opcode::BackwardWeight, middle),
            2 * 4096 * matricesOf(model, middle));
}

// AdamW in float32 reads gradient, weight and both moments and writes three of them back; with
// masters it also writes the rounded weight.
TEST(Work, TheOptimizerMovesSevenWordsOfAParameter) {
  ModelConfig model = sevenBillion();
  model.type = DataType::Float32;
  const StageRange middle{.first = 0, .end = 1};
  double parameters = 0;
  for (const TensorSpec &tensor : stageSpec(model, middle, kOneSample).tensors)
    parameters += static_cast<double>(tensor.elements());
  EXPECT_DOUBLE_EQ(workOf(model, kOneSample, Opcode::Optimize).of(middle).bytes, 28 * parameters);
  EXPECT_DOUBLE_EQ(workOf(model, kOneSample, Opcode::Optimize, /*sharers=*/4).of(middle).bytes,
                   7 * parameters);
  model.type = DataType::BFloat16;
  EXPECT_DOUBLE_EQ(workOf(model, kOneSample, Opcode::Optimize).of(middle).bytes, 30 * parameters);
}

// The bytes of a task are at least those that its regions in the plan have.
TEST(Work, AForwardWritesAtLeastItsStash) {
  const ModelConfig model = sevenBillion();
  const StageRange middle{.first = 4, .end = 8};
  const StageSpec spec = stageSpec(model, middle, kOneSample);
  const double bytes = workOf(model, kOneSample, Opcode::Forward).of(middle).bytes;
  EXPECT_GT(bytes, static_cast<double>(spec.weightBytes + spec.stashBytes));
  EXPECT_LT(bytes, 4 * static_cast<double>(spec.weightBytes + spec.stashBytes));
}

TEST(Work, APolicyReadsLogitsForLogProbabilitiesAndForEntropiesBeforeItsLoss) {
  const ModelConfig model = sevenBillion();
  const StageRange last{.first = 31, .end = 32, .head = true};
  const auto bytesOf = [&](Opcode opcode) {
    return workOf(model, kOneSample, opcode).of(last).bytes;
  };
  const double logits = 2.0 * 4096 * 32000; // bfloat16
  EXPECT_EQ(bytesOf(Opcode::LogProbabilities), logits);
  EXPECT_EQ(bytesOf(Opcode::PolicyLoss), bytesOf(Opcode::Loss) + 2 * logits);
  EXPECT_EQ(flopsOf(model, kOneSample, Opcode::Infer, last),
            flopsOf(model, kOneSample, Opcode::Forward, last));
}

TEST(Work, WhatIsNoDecoderHasNone) {
  const PartWork work = workOf({.family = ModelFamily::Sleep}, kOneSample, Opcode::Forward);
  EXPECT_EQ(work.layer.flops + work.layer.bytes, 0);
}

} // namespace
} // namespace vime
