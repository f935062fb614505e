#include "runtime/Model/LlamaLayer.h"

#include <cstring>

#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

Linear LlamaLayer::qkvProduct(std::int64_t tokens) const {
  return {tokens, config.hidden, std::int64_t(qkvWidth(config)), hasFewTokens};
}
Linear LlamaLayer::outputProduct(std::int64_t tokens) const {
  return {tokens, std::int64_t(queryWidth(config)), config.hidden, hasFewTokens};
}
Linear LlamaLayer::gateUpProduct(std::int64_t tokens) const {
  return {tokens, config.hidden, 2 * std::int64_t(config.ffn), hasFewTokens};
}
Linear LlamaLayer::downProduct(std::int64_t tokens) const {
  return {tokens, config.ffn, config.hidden, hasFewTokens};
}
RmsNorm LlamaLayer::norm(std::int64_t tokens) const {
  return {tokens, config.hidden, config.normEpsilon};
}
Attention LlamaLayer::attention() const {
  return {.heads = std::int32_t(config.heads),
          .keyValueHeads = std::int32_t(config.kvHeads),
          .headWidth = std::int32_t(config.headWidth)};
}

void LlamaLayer::forward(const Segments &segments, const SliceContext &context,
                         const LayerTensors<const void *> &weights, const LayerKept<void *> &kept,
                         const void *input, void *output, LayerScratch scratch) const {
  keep(segments, context, weights, kept, input, scratch);
  feedForward(segments.tokens(), weights, kept, output, scratch);
}

void LlamaLayer::keep(const Segments &segments, const SliceContext &context,
                      const LayerTensors<const void *> &weights, const LayerKept<void *> &kept,
                      const void *input, LayerScratch scratch) const {
  const std::int64_t tokens = segments.tokens();
  beforeAttention(tokens, weights, kept, input, scratch);
  rotate(segments, kept.qkv);
  kernels.attentionForward(
      attention(), segments, context, {kept.qkv, std::int64_t(qkvWidth(config))},
      {kept.attended, std::int64_t(queryWidth(config))}, kept.lse, scratch.kernels);
  afterAttention(tokens, weights, kept, input, scratch);
}

void LlamaLayer::beforeAttention(std::int64_t tokens, const LayerTensors<const void *> &weights,
                                 const LayerKept<void *> &kept, const void *input,
                                 LayerScratch scratch) const {
  const Matrix normed{scratch.rows, config.hidden};
  kernels.rmsNormForward(norm(tokens), {input, config.hidden}, weights.norm1, normed,
                         kept.reciprocal1);
  project(tokens, weights, kept, normed, scratch);
}

void LlamaLayer::rotate(const Segments &segments, void *qkv) const {
  kernels.rope(segments, std::int32_t(config.heads + config.kvHeads),
               std::int32_t(config.headWidth), ropeTable, /*inverse=*/false,
               {qkv, std::int64_t(qkvWidth(config))});
}

void LlamaLayer::afterAttention(std::int64_t tokens, const LayerTensors<const void *> &weights,
                                const LayerKept<void *> &kept, const void *input,
                                LayerScratch scratch) const {
  const std::int64_t hidden = config.hidden;
  const Matrix normed{scratch.rows, hidden}, middle{kept.middle, hidden};
  linearForward(kernels, outputProduct(tokens), {kept.attended, std::int64_t(queryWidth(config))},
                weights.o, {input, hidden}, middle, scratch.kernels);
  kernels.rmsNormForward(norm(tokens), middle, weights.norm2, normed, kept.reciprocal2);
  linearForward(kernels, gateUpProduct(tokens), normed, weights.gateUp, kNoMatrix,
                {kept.gateUp, 2 * std::int64_t(config.ffn)}, scratch.kernels);
}

void LlamaLayer::feedForward(std::int64_t tokens, const LayerTensors<const void *> &weights,
                             const LayerKept<void *> &kept, void *output,
                             LayerScratch scratch) const {
  const std::int64_t hidden = config.hidden, ffn = config.ffn;
  const Matrix activated{scratch.rows, ffn};
  kernels.swigluForward(tokens, ffn, {kept.gateUp, 2 * ffn}, activated);
  linearForward(kernels, downProduct(tokens), activated, weights.down, {kept.middle, hidden},
                {output, hidden}, scratch.kernels);
}

void LlamaLayer::extend(const Segments &segments, const SliceContext &context,
                        const LayerKept<void *> &kept, void *keyValues) const {
  const auto bytesOf = [&](std::uint64_t elements) { return elements * sizeOf(config.type); };
  const std::uint64_t width = bytesOf(2 * keyValueWidth(config));
  const auto *qkv = static_cast<const std::byte *>(kept.qkv) + bytesOf(queryWidth(config));
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int64_t token = segments.offsets[segment]; token < segments.offsets[segment + 1];
         ++token) {
      const std::int64_t position = segments.first + token - segments.offsets[segment];
      std::memcpy(static_cast<std::byte *>(keyValues) +
                      std::uint64_t(segment * context.rows + position) * width,
                  qkv + std::uint64_t(token) * bytesOf(qkvWidth(config)), width);
    }
}

void LlamaLayer::project(std::int64_t tokens, const LayerTensors<const void *> &weights,
                         const LayerKept<void *> &kept, ConstMatrix normed,
                         LayerScratch scratch) const {
  const std::int64_t hidden = config.hidden;
  const std::int64_t keyValues = std::int64_t(keyValueWidth(config));
  const std::int64_t rotatedWidth = std::int64_t(queryWidth(config)) + keyValues;
  const Matrix qkv{kept.qkv, std::int64_t(qkvWidth(config))};
  if (hasHeadNorms(config)) {
    // The same bits as in one product: an element depends on its row and column alone.
    const Matrix raw{kept.rawHeads, rotatedWidth};
    const Matrix values{elementAt(qkv.data, rotatedWidth, config.type), qkv.stride};
    linearForward(kernels, {tokens, hidden, rotatedWidth, hasFewTokens}, normed, weights.qkv,
                  kNoMatrix, raw, scratch.kernels);
    linearForward(kernels, {tokens, hidden, keyValues, hasFewTokens}, normed,
                  elementAt(weights.qkv, rotatedWidth * hidden, config.type), kNoMatrix, values,
                  scratch.kernels);
    headNorm.forward(tokens, raw, {weights.queryNorm, weights.keyNorm}, qkv, kept.headReciprocals);
  } else {
    const ConstMatrix bias =
        hasQkvBias(config) ? ConstMatrix(weights.qkvBias, /*stride=*/0) : kNoMatrix;
    linearForward(kernels, qkvProduct(tokens), normed, weights.qkv, bias, qkv, scratch.kernels);
  }
}

void LlamaLayer::backwardInput(const Segments &segments, const SliceContext &context,
                               const LayerTensors<const void *> &weights,
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
  kernels.attentionBackward(attention(), segments, context, qkv, {kept.attended, queries},
                            dAttended, kept.lse, scratch.kernels);
  kernels.rope(segments, rotated, headWidth, ropeTable, /*inverse=*/true, qkv);
  if (hasHeadNorms(config)) // the gradient of what attention gave is no longer needed
    headNorm.backward(tokens, {kept.rawHeads, queries + std::int64_t(keyValueWidth(config))},
                      {weights.queryNorm, weights.keyNorm}, kept.headReciprocals, qkv,
                      {passed.queryNormGradient, passed.keyNormGradient}, scratch.rows);
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
  const ConstMatrix qkv{kept.qkv, std::int64_t(qkvWidth(config))};
  product(qkvProduct(tokens), qkv, normed, gradients.qkv);
  accumulate(kernels, hidden, overwrite, passed.norm1Gradient, gradients.norm1);
  accumulate(kernels, hidden, overwrite, passed.norm2Gradient, gradients.norm2);
  if (hasQkvBias(config))
    kernels.columnSums(tokens, qkv.stride, qkv, !overwrite, gradients.qkvBias);
  if (hasHeadNorms(config)) {
    accumulate(kernels, config.headWidth, overwrite, passed.queryNormGradient, gradients.queryNorm);
    accumulate(kernels, config.headWidth, overwrite, passed.keyNormGradient, gradients.keyNorm);
  }
}

void accumulate(const Kernels &kernels, std::int64_t count, bool overwrite, const void *part,
                void *gradient) {
  if (overwrite)
    std::memcpy(gradient, part, std::size_t(count) * sizeOf(kernels.sumType()));
  else
    kernels.add(count, part, gradient);
}

} // namespace vime
