#include "runtime/ModelSpec/StageRegions.h"

#include <algorithm>

#include "kernels/SumType.h"
#include "kernels/Workspace.h"

namespace vime {
namespace {

/// Hands out consecutive aligned parts of a region.
struct Cursor {
  std::uint64_t at = 0;
  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t start = at;
    at += alignRegion(bytes);
    return start;
  }
};

struct Sizes {
  const ModelConfig &config;
  std::uint64_t tokens;
  std::uint64_t vector(std::uint64_t elements) const {
    return alignRegion(elements * sizeOf(config.type));
  }
  std::uint64_t rows(std::uint64_t width) const { return vector(tokens * width); }
  /// The same of what must not be rounded to the model's type.
  std::uint64_t sumVector(std::uint64_t elements) const {
    return alignRegion(elements * sizeOf(sumTypeOf(config.type)));
  }
  std::uint64_t sumRows(std::uint64_t width) const { return sumVector(tokens * width); }
};

LayerStash layerStash(const ModelConfig &config, const Sizes &size) {
  Cursor cursor;
  LayerStash layer;
  layer.reciprocal1 = cursor.take(size.sumRows(1));
  layer.qkv = cursor.take(size.rows(qkvWidth(config)));
  layer.attended = cursor.take(size.rows(queryWidth(config)));
  layer.lse = cursor.take(size.sumRows(config.heads));
  layer.middle = cursor.take(size.rows(config.hidden));
  layer.reciprocal2 = cursor.take(size.sumRows(1));
  layer.gateUp = cursor.take(size.rows(2ull * config.ffn));
  if (hasHeadNorms(config)) {
    layer.rawHeads = cursor.take(size.rows(queryWidth(config) + keyValueWidth(config)));
    layer.headReciprocals = cursor.take(size.sumRows(std::uint64_t(config.heads) + config.kvHeads));
  }
  layer.bytes = cursor.at;
  return layer;
}

LayerWeightStash layerWeightStash(const ModelConfig &config, const Sizes &size) {
  Cursor cursor;
  LayerWeightStash layer;
  layer.activated = cursor.take(size.rows(config.ffn));
  layer.middleGradient = cursor.take(size.rows(config.hidden));
  const std::uint64_t headNorms = hasHeadNorms(config) ? 2ull * config.headWidth : 0;
  layer.normGradients = cursor.take(size.sumVector(2ull * config.hidden + headNorms));
  layer.bytes = cursor.at;
  return layer;
}

/// Workspace of the kernels in each direction of one stage.
struct KernelNeeds {
  std::uint64_t forward = 0, input = 0, weight = 0;
};

KernelNeeds kernelNeeds(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  KernelNeeds needs;
  const auto linear = [&](std::uint64_t inputs, std::uint64_t outputs) {
    const auto product = [&](std::uint64_t columns, std::uint64_t depth) {
      return std::uint64_t(productWorkspace(config.type, columns, depth, config.kernels));
    };
    needs.forward = std::max(needs.forward, product(outputs, inputs));
    needs.input = std::max(needs.input, product(inputs, outputs));
    needs.weight = std::max(needs.weight, product(inputs, caps.tokens));
  };
  linear(config.hidden, qkvWidth(config));
  linear(queryWidth(config), config.hidden);
  linear(config.hidden, 2ull * config.ffn);
  linear(config.ffn, config.hidden);
  if (range.head)
    linear(config.hidden, config.vocab);
  const Attention heads{.heads = std::int32_t(config.heads),
                        .keyValueHeads = std::int32_t(config.kvHeads),
                        .headWidth = std::int32_t(config.headWidth)};
  const std::uint64_t forward = attentionForwardWorkspace(config.type, heads, caps.segmentTokens,
                                                          config.kernels),
                      backward = attentionBackwardWorkspace(config.type, heads, caps.segmentTokens,
                                                            config.kernels);
  needs.forward = alignRegion(std::max(needs.forward, forward));
  needs.input = alignRegion(std::max(needs.input, backward));
  needs.weight = alignRegion(needs.weight);
  return needs;
}

void layStashes(StageRegions &regions, const ModelConfig &config, StageRange range,
                const Sizes &size) {
  const std::uint32_t layers = range.end - range.first;
  regions.states = {.first = range.embedding ? 0u : 1u,
                    .end = range.head ? layers + 1 : layers,
                    .stride = size.rows(config.hidden)};
  regions.layer = layerStash(config, size);
  regions.weightLayer = layerWeightStash(config, size);

  Cursor stash{regions.states.count() * regions.states.stride};
  regions.layers = stash.take(config.recomputesLayers ? 0 : layers * regions.layer.bytes);
  Cursor weight{regions.states.count() * regions.states.stride};
  regions.weightLayers = weight.take(layers * regions.weightLayer.bytes);
  regions.weightKept = weight.take(config.recomputesLayers ? layers * regions.layer.bytes : 0);
  if (range.head) {
    regions.finalReciprocal = stash.take(size.sumRows(1));
    regions.logits = stash.take(size.rows(config.vocab));
    regions.finalNormGradient = weight.take(size.sumVector(config.hidden));
  }
  regions.stashBytes = stash.at;
  regions.weightStashBytes = weight.at;
}

SliceRegions sliceRegions(const ModelConfig &config, MicrobatchCaps caps) {
  if (caps.slices == 1)
    return {};
  const std::uint64_t elements =
      std::uint64_t(caps.segments) * caps.segmentTokens * 2 * keyValueWidth(config);
  return {.rows = caps.segmentTokens,
          .keyValues = alignRegion(elements * sizeOf(config.type)),
          .gradients = alignRegion(elements * sizeOf(sumTypeOf(config.type)))};
}

void layWorkspaces(StageRegions &regions, const ModelConfig &config, const KernelNeeds &kernels,
                   bool head, const Sizes &size) {
  const std::uint64_t normed = size.rows(config.hidden);
  // Norms of heads add up their weights' gradient in the same place.
  const std::uint64_t attended = std::max(
      size.rows(queryWidth(config)), hasHeadNorms(config) ? size.sumVector(config.headWidth) : 0);

  const std::uint64_t again = config.recomputesLayers ? regions.layer.bytes : 0;
  const std::uint64_t forwardAgain = config.recomputesLayers ? kernels.forward : 0;

  // Normed rows and activated rows never live together.
  Cursor forward{std::max(normed, size.rows(config.ffn))};
  regions.forwardLayer = forward.take(again);
  regions.forwardKernels = forward.take(kernels.forward);
  regions.forwardWorkspace = forward.at;
  regions.inputKernels = config.recomputesLayers ? std::max(normed, attended) : attended;
  regions.backwardInputWorkspace = regions.inputKernels + std::max(kernels.input, forwardAgain);
  regions.weightKernels = normed;
  regions.backwardWeightWorkspace = regions.weightKernels + kernels.weight;

  Cursor cursor{std::max(normed, attended)};
  regions.backwardKept = cursor.take(again);
  regions.backwardLayer = cursor.take(regions.weightLayer.bytes);
  regions.backwardStates =
      cursor.take(std::min(regions.states.count(), 2u) * regions.states.stride);
  regions.backwardFinalNorm = cursor.take(head ? size.sumVector(config.hidden) : 0);
  regions.backwardKernels = cursor.take(std::max({kernels.input, kernels.weight, forwardAgain}));
  regions.backwardWorkspace = cursor.at;
}

} // namespace

StageRegions stageRegions(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  const Sizes size{config, caps.tokens};
  StageRegions regions;
  regions.context = sliceRegions(config, caps);
  layStashes(regions, config, range, size);
  layWorkspaces(regions, config, kernelNeeds(config, range, caps), range.head, size);
  return regions;
}

} // namespace vime
