// LlamaLayer: one decoder layer (Touvron et al. 2023) with explicit gradients.
//
//   h1 = rmsNorm(x);  q,k,v = rope(h1 Wqkv');  a = attention(q,k,v);  x1 = x + a Wo'
//   h2 = rmsNorm(x1); g,u = h2 Wgu';  s = silu(g) u;                  y  = x1 + s Wd'
//
// Qwen2 adds a bias to q, k and v; Qwen3 norms each head of q and k before RoPE (HeadNorm.h).
//
// What lives from which of the three functions to which is the table in README.md.
#pragma once

#include "kernels/Kernels.h"
#include "runtime/Model/HeadNorm.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// The tensors of one layer. `Pointer` is `const void *` or `void *`, here and below.
template <typename Pointer> struct LayerTensors {
  Pointer norm1, qkv, o, norm2, gateUp, down;
  Pointer qkvBias, queryNorm, keyNorm; // of the families that have them
};

/// forward → input and weight gradient (LayerStash).
template <typename Pointer> struct LayerKept {
  Pointer reciprocal1, qkv, attended, lse, middle, reciprocal2, gateUp;
  Pointer rawHeads, headReciprocals; // of the norms of heads
};

/// input gradient → weight gradient (LayerWeightStash).
template <typename Pointer> struct LayerPassed {
  Pointer activated, middleGradient, norm1Gradient, norm2Gradient;
  Pointer queryNormGradient, keyNormGradient;
};

/// Memory that lives only inside one call.
struct LayerScratch {
  void *rows; // [tokens, the widest of what the call needs]
  void *kernels;
};

class LlamaLayer {
public:
  /// `hasFewTokens`: in most calls of a forward (Linear).
  LlamaLayer(const ModelConfig &config, const Kernels &kernels, const void *ropeTable,
             bool hasFewTokens = false)
      : config(config), kernels(kernels), ropeTable(ropeTable), hasFewTokens(hasFewTokens),
        headNorm(config, kernels) {}

  void forward(const Segments &segments, const SliceContext &context,
               const LayerTensors<const void *> &weights, const LayerKept<void *> &kept,
               const void *input, void *output, LayerScratch scratch) const;
  /// The forward as far as something is kept of it: all but the product that gives the output.
  void keep(const Segments &segments, const SliceContext &context,
            const LayerTensors<const void *> &weights, const LayerKept<void *> &kept,
            const void *input, LayerScratch scratch) const;
  /// Behind a forward: its keys and values, for the slices behind. `keyValues` is the context's.
  void extend(const Segments &segments, const SliceContext &context, const LayerKept<void *> &kept,
              void *keyValues) const;

  /// The forward in three parts, for who attends in a way of its own: norm and product to queries,
  /// keys and values, which are not rotated yet; then, from what was attended, the product behind
  /// it, the second norm and the product to gate and up; then the rest. The output may lie where
  /// the input did.
  void beforeAttention(std::int64_t tokens, const LayerTensors<const void *> &weights,
                       const LayerKept<void *> &kept, const void *input,
                       LayerScratch scratch) const;
  void afterAttention(std::int64_t tokens, const LayerTensors<const void *> &weights,
                      const LayerKept<void *> &kept, const void *input, LayerScratch scratch) const;
  void feedForward(std::int64_t tokens, const LayerTensors<const void *> &weights,
                   const LayerKept<void *> &kept, void *output, LayerScratch scratch) const;
  /// Rotates the queries and keys of rows of qkv.
  void rotate(const Segments &segments, void *qkv) const;
  Attention attention() const;

  /// Turns kept.qkv and kept.gateUp into their gradients.
  void backwardInput(const Segments &segments, const SliceContext &context,
                     const LayerTensors<const void *> &weights, const LayerKept<void *> &kept,
                     const LayerPassed<void *> &passed, const void *input,
                     const void *outputGradient, void *inputGradient, LayerScratch scratch) const;

  void backwardWeight(const Segments &segments, bool overwrite,
                      const LayerTensors<const void *> &weights,
                      const LayerTensors<void *> &gradients, const LayerKept<const void *> &kept,
                      const LayerPassed<const void *> &passed, const void *input,
                      const void *outputGradient, LayerScratch scratch) const;

private:
  /// Queries, keys and values of the normed rows.
  void project(std::int64_t tokens, const LayerTensors<const void *> &weights,
               const LayerKept<void *> &kept, ConstMatrix normed, LayerScratch scratch) const;
  Linear qkvProduct(std::int64_t tokens) const;
  Linear outputProduct(std::int64_t tokens) const;
  Linear gateUpProduct(std::int64_t tokens) const;
  Linear downProduct(std::int64_t tokens) const;
  RmsNorm norm(std::int64_t tokens) const;

  const ModelConfig &config;
  const Kernels &kernels;
  const void *ropeTable;
  const bool hasFewTokens;
  const HeadNorm headNorm;
};

/// gradient = part, or gradient += part; both [count], of the kernels' sumType().
void accumulate(const Kernels &kernels, std::int64_t count, bool overwrite, const void *part,
                void *gradient);

} // namespace vime
