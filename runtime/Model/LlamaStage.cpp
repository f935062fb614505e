#include "runtime/Model/LlamaStage.h"

#include <algorithm>

#include "runtime/Model/PolicyTasks.h"

namespace vime {
namespace {

void *at(void *base, std::uint64_t bytes) { return bytesFrom(base, bytes); }
const void *at(const void *base, std::uint64_t bytes) { return bytesFrom(base, bytes); }

/// The states of one microbatch, or their gradients: those that the stage keeps, and the one at
/// either edge.
template <typename Pointer> struct States {
  const KeptStates &kept;
  Pointer first; // address of the first kept state
  Pointer below; // state 0 where it is not kept
  Pointer above; // the last state where it is not kept
  Pointer operator[](std::uint32_t index) const {
    if (kept.holds(index))
      return at(first, (index - kept.first) * kept.stride);
    return index == 0 ? below : above;
  }
};

LayerKept<const void *> readOnly(const LayerKept<void *> &kept) {
  return {kept.reciprocal1, kept.qkv,      kept.attended,
          kept.lse,         kept.middle,   kept.reciprocal2,
          kept.gateUp,      kept.rawHeads, kept.headReciprocals};
}

std::unique_ptr<std::byte[]> makeRopeTable(const ModelConfig &config, MicrobatchCaps caps,
                                           const Kernels &kernels) {
  const std::size_t bytes =
      std::size_t(caps.segmentTokens) * config.headWidth * sizeOf(kernels.sumType());
  auto table = std::make_unique<std::byte[]>(bytes);
  kernels.ropeTable(caps.segmentTokens, std::int32_t(config.headWidth), config.ropeTheta,
                    table.get());
  return table;
}

} // namespace

LlamaStage::LlamaStage(const ModelConfig &config, StageRange range, MicrobatchCaps caps,
                       const Kernels &kernels)
    : config(config), range(range), caps(caps), kernels(kernels),
      regions(stageRegions(config, range, caps)),
      inWeights(stageSpec(config, range, caps), sizeOf(config.type)),
      inGradients(stageSpec(config, range, caps), sizeOf(kernels.sumType())),
      ropeTable(makeRopeTable(config, caps, kernels)),
      layer(this->config, kernels, ropeTable.get()) {}

// ---- tasks ----

void LlamaStage::forward(const Segments &segments, const ForwardOperands &operands) const {
  const std::int64_t tokens = segments.tokens(), hidden = config.hidden;
  const States<void *> states{regions.states, operands.stash, nullptr, operands.output};
  const LayerScratch scratch{operands.workspace, at(operands.workspace, regions.forwardKernels)};
  if (range.embedding)
    kernels.embeddingForward(tokens, hidden, at(operands.weights, inWeights.embedding),
                             static_cast<const std::int32_t *>(operands.input),
                             {states[0], hidden});
  for (std::uint32_t index = 0; index < layers(); ++index) {
    const void *input = index == 0 && !range.embedding ? operands.input : states[index];
    const SliceContext context = contextOf(segments, index, operands.context, nullptr);
    const LayerKept<void *> kept =
        layerKept(operands.stash, at(operands.workspace, regions.forwardLayer), index);
    layer.forward(segments, context, inWeights.layerAt(operands.weights, index), kept, input,
                  states[index + 1], scratch);
    if (context.rows != 0)
      layer.extend(segments, context, kept,
                   at(operands.context, index * regions.context.keyValues));
  }
  if (!range.head)
    return;
  const Matrix normed{scratch.rows, hidden};
  kernels.rmsNormForward({tokens, hidden, config.normEpsilon}, {states[layers()], hidden},
                         at(operands.weights, inWeights.norm), normed,
                         at(operands.stash, regions.finalReciprocal));
  linearForward(kernels, headProduct(tokens), normed,
                headMatrix(operands.weights, operands.tiedWeights), kNoMatrix,
                {at(operands.stash, regions.logits), config.vocab}, scratch.kernels);
}

void LlamaStage::loss(const Segments &segments, const LossOperands &operands) const {
  *operands.loss =
      kernels.crossEntropy(segments.tokens(), config.vocab,
                           {at(operands.stash, regions.logits), config.vocab}, operands.labels, 1);
}

void LlamaStage::policyLoss(const Segments &segments, const PolicyLossOperands &operands,
                            const PolicyLossSettings &settings) const {
  policyLossOf({kernels, {at(operands.stash, regions.logits), config.vocab}}, segments, operands,
               policyWorkspaceOf(caps), settings);
}

void LlamaStage::logProbabilities(const Segments &segments,
                                  const LogProbabilityOperands &operands) const {
  logProbabilitiesOf({kernels, {at(operands.stash, regions.logits), config.vocab}},
                     segments.tokens(), operands.labels, operands.logProbabilities);
}

void LlamaStage::backwardInput(const Segments &segments,
                               const BackwardInputOperands &operands) const {
  const States<const void *> states{regions.states, operands.stash, operands.input, nullptr};
  const States<void *> gradients{regions.states, operands.weightStash, operands.inputGradient,
                                 nullptr};
  const LayerScratch scratch{operands.workspace, at(operands.workspace, regions.inputKernels)};
  const void *above = operands.outputGradient;
  if (range.head) {
    headInput(segments.tokens(), operands.weights,
              headMatrix(operands.weights, operands.tiedWeights), operands.stash,
              gradients[layers()], at(operands.weightStash, regions.finalNormGradient),
              scratch.kernels);
    above = gradients[layers()];
  }
  for (std::uint32_t index = layers(); index-- > 0;) {
    void *part = at(operands.weightStash, regions.weightLayers + index * regions.weightLayer.bytes);
    void *again = at(operands.weightStash, regions.weightKept + index * regions.layer.bytes);
    const LayerTensors<const void *> weights = inWeights.layerAt(operands.weights, index);
    const LayerKept<void *> kept = layerKept(operands.stash, again, index);
    const SliceContext context =
        contextOf(segments, index, operands.context, operands.contextGradients);
    if (config.recomputesLayers)
      layer.keep(segments, context, weights, kept, states[index], scratch);
    layer.backwardInput(segments, context, weights, kept, layerPassed(part), states[index], above,
                        gradients[index], scratch);
    above = gradients[index];
  }
}

void LlamaStage::backwardWeight(const Segments &segments, bool overwrite,
                                const BackwardWeightOperands &operands) const {
  const States<const void *> states{regions.states, operands.stash, operands.input, nullptr};
  const States<const void *> gradients{regions.states, operands.weightStash, nullptr,
                                       operands.outputGradient};
  const LayerScratch scratch{operands.workspace, at(operands.workspace, regions.weightKernels)};
  if (range.head)
    headWeight(segments.tokens(), overwrite, operands.weights, operands.stash,
               at(operands.weightStash, regions.finalNormGradient), operands.gradients,
               headGradient(operands.gradients, operands.tiedGradients), scratch);
  for (std::uint32_t index = layers(); index-- > 0;) {
    const void *part =
        at(operands.weightStash, regions.weightLayers + index * regions.weightLayer.bytes);
    const void *again = at(operands.weightStash, regions.weightKept + index * regions.layer.bytes);
    layer.backwardWeight(segments, overwrite, inWeights.layerAt(operands.weights, index),
                         inGradients.layerAt(operands.gradients, index),
                         layerKept(operands.stash, again, index), layerPassed(part), states[index],
                         gradients[index + 1], scratch);
  }
  if (range.embedding)
    embeddingWeight(segments.tokens(), overwrite, operands.input, gradients[0], operands.gradients);
}

void LlamaStage::backward(const Segments &segments, bool overwrite,
                          const BackwardOperands &operands) const {
  const States<const void *> states{regions.states, operands.stash, operands.input, nullptr};
  const LayerScratch scratch{operands.workspace, at(operands.workspace, regions.backwardKernels)};
  // Each layer runs both halves, so one layer's share and two gradients of states in turn suffice.
  void *const part = at(operands.workspace, regions.backwardLayer);
  const auto gradientOf = [&](std::uint32_t index) {
    if (!regions.states.holds(index))
      return operands.inputGradient;
    const std::uint64_t turn = (index - regions.states.first) % 2;
    return at(operands.workspace, regions.backwardStates + turn * regions.states.stride);
  };
  const void *above = operands.outputGradient;
  if (range.head) {
    void *normGradient = at(operands.workspace, regions.backwardFinalNorm);
    headInput(segments.tokens(), operands.weights,
              headMatrix(operands.weights, operands.tiedWeights), operands.stash,
              gradientOf(layers()), normGradient, scratch.kernels);
    headWeight(segments.tokens(), overwrite, operands.weights, operands.stash, normGradient,
               operands.gradients, headGradient(operands.gradients, operands.tiedGradients),
               scratch);
    above = gradientOf(layers());
  }
  for (std::uint32_t index = layers(); index-- > 0;) {
    const LayerTensors<const void *> weights = inWeights.layerAt(operands.weights, index);
    const LayerKept<void *> kept =
        layerKept(operands.stash, at(operands.workspace, regions.backwardKept), index);
    const SliceContext context =
        contextOf(segments, index, operands.context, operands.contextGradients);
    if (config.recomputesLayers)
      layer.keep(segments, context, weights, kept, states[index], scratch);
    layer.backwardInput(segments, context, weights, kept, layerPassed(part), states[index], above,
                        gradientOf(index), scratch);
    layer.backwardWeight(segments, overwrite, weights,
                         inGradients.layerAt(operands.gradients, index), readOnly(kept),
                         layerPassed<const void *>(part), states[index], above, scratch);
    above = gradientOf(index);
  }
  if (range.embedding)
    embeddingWeight(segments.tokens(), overwrite, operands.input, above, operands.gradients);
}

SliceContext LlamaStage::contextOf(const Segments &segments, std::uint32_t index,
                                   const void *context, void *gradients) const {
  const SliceRegions &in = regions.context;
  if (in.rows == 0)
    return {};
  const std::int64_t width = 2 * std::int64_t(keyValueWidth(config));
  const bool isLast = segments.first >= std::int64_t(in.rows - in.rows / caps.slices);
  return {.keyValues = {at(context, index * in.keyValues), width},
          .gradients = {gradients ? at(gradients, index * in.gradients) : nullptr, width},
          .isLast = isLast,
          .rows = std::int64_t(in.rows)};
}

// ---- head and embedding ----

Linear LlamaStage::headProduct(std::int64_t tokens) const {
  return {tokens, config.hidden, config.vocab};
}

const void *LlamaStage::headMatrix(const void *weights, const void *tied) const {
  return config.tiedHead ? tied : at(weights, inWeights.head);
}
void *LlamaStage::headGradient(void *gradients, void *tied) const {
  return config.tiedHead ? tied : at(gradients, inGradients.head);
}

void LlamaStage::headInput(std::int64_t tokens, const void *weights, const void *matrix,
                           const void *stash, void *stateGradient, void *normGradient,
                           void *kernelWorkspace) const {
  const std::int64_t hidden = config.hidden;
  const Matrix gradient{stateGradient, hidden};
  const States<const void *> states{regions.states, stash, nullptr, nullptr};
  linearBackwardInput(kernels, headProduct(tokens), {at(stash, regions.logits), config.vocab},
                      matrix, kNoMatrix, gradient, kernelWorkspace);
  kernels.rmsNormBackward({tokens, hidden, config.normEpsilon}, {states[layers()], hidden},
                          at(weights, inWeights.norm), at(stash, regions.finalReciprocal), gradient,
                          kNoMatrix, gradient, normGradient);
}

void LlamaStage::headWeight(std::int64_t tokens, bool overwrite, const void *weights,
                            const void *stash, const void *normGradient, void *gradients,
                            void *matrixGradient, LayerScratch scratch) const {
  const std::int64_t hidden = config.hidden;
  const Matrix normed{scratch.rows, hidden};
  const States<const void *> states{regions.states, stash, nullptr, nullptr};
  kernels.rmsNormApply({tokens, hidden, config.normEpsilon}, {states[layers()], hidden},
                       at(weights, inWeights.norm), at(stash, regions.finalReciprocal), normed);
  linearBackwardWeight(kernels, headProduct(tokens), {at(stash, regions.logits), config.vocab},
                       normed, !overwrite, matrixGradient, scratch.kernels);
  accumulate(kernels, hidden, overwrite, normGradient, at(gradients, inGradients.norm));
}

void LlamaStage::embeddingWeight(std::int64_t tokens, bool overwrite, const void *ids,
                                 const void *stateGradient, void *gradients) const {
  void *table = at(gradients, inGradients.embedding);
  if (overwrite)
    kernels.fill(std::int64_t(config.vocab) * config.hidden, 0, table);
  kernels.embeddingBackward(tokens, config.hidden, static_cast<const std::int32_t *>(ids),
                            {stateGradient, config.hidden}, table);
}

// ---- addresses ----

template <typename Pointer> LayerKept<Pointer> LlamaStage::layerKept(Pointer start) const {
  const LayerStash &in = regions.layer;
  return {at(start, in.reciprocal1), at(start, in.qkv),      at(start, in.attended),
          at(start, in.lse),         at(start, in.middle),   at(start, in.reciprocal2),
          at(start, in.gateUp),      at(start, in.rawHeads), at(start, in.headReciprocals)};
}

template <typename Pointer>
LayerKept<Pointer> LlamaStage::layerKept(Pointer stash, Pointer again, std::uint32_t index) const {
  return layerKept(
      config.recomputesLayers ? again : at(stash, regions.layers + index * regions.layer.bytes));
}

template <typename Pointer> LayerPassed<Pointer> LlamaStage::layerPassed(Pointer part) const {
  const LayerWeightStash &in = regions.weightLayer;
  const std::uint64_t row = config.hidden * sizeOf(kernels.sumType());
  const std::uint64_t head = config.headWidth * sizeOf(kernels.sumType());
  return {at(part, in.activated),
          at(part, in.middleGradient),
          at(part, in.normGradients),
          at(part, in.normGradients + row),
          at(part, in.normGradients + 2 * row),
          at(part, in.normGradients + 2 * row + head)};
}

} // namespace vime
