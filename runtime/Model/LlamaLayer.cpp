#include "runtime/Model/LlamaLayer.h"

#include <cstring>

#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

Linear LlamaLayer::qkvProduct(std::int64_t tokens) const {
  return {tokens, config.hidden, std::int64_t(qkvWidth(config))};
}
Linear LlamaLayer::outputProduct(std::int64_t tokens) const {
  return {tokens, std::int64_t(queryWidth(config)), config.hidden};
}
Linear LlamaLayer::gateUpProduct(std::int64_t tokens) const {
  return {tokens, config.hidden, 2 * std::int64_t(config.ffn)};
}
Linear LlamaLayer::downProduct(std::int64_t tokens) const {
  return {tokens, config.ffn, config.hidden};
}
RmsNorm LlamaLayer::norm(std::int64_t tokens) const {
  return {tokens, config.hidden, config.normEpsilon};
}
Attention LlamaLayer::attention() const {
  return {.heads = std::int32_t(config.heads),
          .keyValueHeads = std::int32_t(config.kvHeads),
          .headWidth = std::int32_t(config.headWidth)};
}

void LlamaLayer::forward(const Segments &segments, const LayerTensors<const void *> &weights,
                         const LayerKept<void *> &kept, const void *input, void *output,
                         LayerScratch scratch) const {
  const std::int64_t tokens = segments.tokens(), hidden = config.hidden, ffn = config.ffn;
  const ConstMatrix x{input, hidden};
  const Matrix normed{scratch.rows, hidden}, activated{scratch.rows, ffn};
  const Matrix qkv{kept.qkv, std::int64_t(qkvWidth(config))}, gateUp{kept.gateUp, 2 * ffn};
  const Matrix attended{kept.attended, std::int64_t(queryWidth(config))};
  const Matrix middle{kept.middle, hidden}, y{output, hidden};
  const std::int32_t rotated = std::int32_t(config.heads + config.kvHeads);
  const std::int32_t headWidth = std::int32_t(config.headWidth);

  kernels.rmsNormForward(norm(tokens), x, weights.norm1, normed, kept.reciprocal1);
  linearForward(kernels, qkvProduct(tokens), normed, weights.qkv, kNoMatrix, qkv, scratch.kernels);
  kernels.rope(segments, rotated, headWidth, ropeTable, /*inverse=*/false, qkv);
  kernels.attentionForward(attention(), segments, qkv, attended, kept.lse, scratch.kernels);
  linearForward(kernels, outputProduct(tokens), attended, weights.o, x, middle, scratch.kernels);

  kernels.rmsNormForward(norm(tokens), middle, weights.norm2, normed, kept.reciprocal2);
  linearForward(kernels, gateUpProduct(tokens), normed, weights.gateUp, kNoMatrix, gateUp,
                scratch.kernels);
  kernels.swigluForward(tokens, ffn, gateUp, activated);
  linearForward(kernels, downProduct(tokens), activated, weights.down, middle, y, scratch.kernels);
}

void LlamaLayer::backwardInput(const Segments &segments, const LayerTensors<const void *> &weights,
                               const LayerKept<void *> &kept, const LayerPassed<void *> &passed,
                               const void *input, const void *outputGradient, void *inputGradient,
                               LayerScratch scratch) const {
  const std::int64_t tokens = segments.tokens(), hidden = config.hidden, ffn = config.ffn;
  const std::int64_t queries = std::int64_t(queryWidth(config));
  const ConstMatrix x{input, hidden}, dy{outputGradient, hidden};
  const Matrix qkv{kept.qkv, std::int64_t(qkvWidth(config))}, gateUp{kept.gateUp, 2 * ffn};
  const Matrix activated{passed.activated, ffn}, dMiddle{passed.middleGradient, hidden};
  const Matrix dAttended{scratch.rows, queries}, dx{inputGradient, hidden};
  const std::int32_t rotated = std::int32_t(config.heads + config.kvHeads);
  const std::int32_t headWidth = std::int32_t(config.headWidth);

  // Each gradient is made where it stays: the kernels may overwrite their own input.
  linearBackwardInput(kernels, downProduct(tokens), dy, weights.down, kNoMatrix, activated,
                      scratch.kernels);
  kernels.swigluBackward(tokens, ffn, gateUp, activated, activated);
  linearBackwardInput(kernels, gateUpProduct(tokens), gateUp, weights.gateUp, kNoMatrix, dMiddle,
                      scratch.kernels);
  kernels.rmsNormBackward(norm(tokens), {kept.middle, hidden}, weights.norm2, kept.reciprocal2,
                          dMiddle, dy, dMiddle, passed.norm2Gradient);

  linearBackwardInput(kernels, outputProduct(tokens), dMiddle, weights.o, kNoMatrix, dAttended,
                      scratch.kernels);
  kernels.attentionBackward(attention(), segments, qkv, {kept.attended, queries}, dAttended,
                            kept.lse, scratch.kernels);
  kernels.rope(segments, rotated, headWidth, ropeTable, /*inverse=*/true, qkv);
  linearBackwardInput(kernels, qkvProduct(tokens), qkv, weights.qkv, kNoMatrix, dx,
                      scratch.kernels);
  kernels.rmsNormBackward(norm(tokens), x, weights.norm1, kept.reciprocal1, dx, dMiddle, dx,
                          passed.norm1Gradient);
}

void LlamaLayer::backwardWeight(const Segments &segments, bool overwrite,
                                const LayerTensors<const void *> &weights,
                                const LayerTensors<void *> &gradients,
                                const LayerKept<const void *> &kept,
                                const LayerPassed<const void *> &passed, const void *input,
                                const void *outputGradient, LayerScratch scratch) const {
  const std::int64_t tokens = segments.tokens(), hidden = config.hidden, ffn = config.ffn;
  const ConstMatrix x{input, hidden}, middle{kept.middle, hidden};
  const ConstMatrix dy{outputGradient, hidden}, dMiddle{passed.middleGradient, hidden};
  const Matrix normed{scratch.rows, hidden};
  const auto product = [&](const Linear &linear, ConstMatrix gradient, ConstMatrix rows, void *to) {
    linearBackwardWeight(kernels, linear, gradient, rows, !overwrite, to, scratch.kernels);
  };

  product(downProduct(tokens), dy, {passed.activated, ffn}, gradients.down);
  // Norm outputs are made again: 1 % of a step, against 2 hidden words a token and layer.
  kernels.rmsNormApply(norm(tokens), middle, weights.norm2, kept.reciprocal2, normed);
  product(gateUpProduct(tokens), {kept.gateUp, 2 * ffn}, normed, gradients.gateUp);
  product(outputProduct(tokens), dMiddle, {kept.attended, std::int64_t(queryWidth(config))},
          gradients.o);
  kernels.rmsNormApply(norm(tokens), x, weights.norm1, kept.reciprocal1, normed);
  product(qkvProduct(tokens), {kept.qkv, std::int64_t(qkvWidth(config))}, normed, gradients.qkv);
  accumulate(kernels, hidden, overwrite, passed.norm1Gradient, gradients.norm1);
  accumulate(kernels, hidden, overwrite, passed.norm2Gradient, gradients.norm2);
}

void accumulate(const Kernels &kernels, std::int64_t count, bool overwrite, const void *part,
                void *gradient) {
  if (overwrite)
    std::memcpy(gradient, part, std::size_t(count) * sizeOf(kernels.type()));
  else
    kernels.add(count, part, gradient);
}

} // namespace vime
