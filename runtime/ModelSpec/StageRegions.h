// StageRegions: where everything lies inside a stage's stash, weight stash and workspace.
//
// `stageSpec` takes the sizes from here and the Llama stage the addresses, so that what the
// compiler reserves and what the runtime uses cannot disagree. All offsets are bytes from the start
// of a region and multiples of kRegionAlignment.
//
//   stash         states | layer | layer ... | final reciprocals | logits
//   weight stash  gradients of states | layer | layer ... | gradient of the final norm
//   workspace     of each task its own, see below
//   context       keys and values of layer | layer ..., of samples in slices
//
// Where layers are recomputed, the stash has no layers: the forward keeps one in its workspace and
// drops it, the combined backward makes one layer after another again in its own, and an input
// gradient makes them all in the weight stash, behind the layers there, for the weight gradient.
//
// Elements have the model's type, but reciprocals, log-sums and gradients of norms its sumTypeOf.
//
// A *state* is the activation between two layers. A stage of n layers has the states 0 (its input)
// to n (its output); those at the edge to another stage lie in plan buffers of their own, the
// others in the stash.
#pragma once

#include <cstdint>

#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

inline constexpr std::uint64_t kRegionAlignment = 64;

/// States that the stage keeps itself: [first, end).
struct KeptStates {
  std::uint32_t first = 0, end = 0;
  std::uint64_t stride = 0; // bytes of one state
  std::uint32_t count() const { return end - first; }
  bool holds(std::uint32_t state) const { return state >= first && state < end; }
};

/// What a layer keeps from forward to backward; offsets from the start of the layer's part.
struct LayerStash {
  std::uint64_t reciprocal1 = 0; // [tokens] of the norm before attention
  std::uint64_t qkv = 0; // [tokens, (heads + 2 kvHeads) headWidth] after RoPE; gradient in place
  std::uint64_t attended = 0;    // [tokens, heads headWidth] before the output product
  std::uint64_t lse = 0;         // [tokens, heads]
  std::uint64_t middle = 0;      // [tokens, hidden] after the first residual
  std::uint64_t reciprocal2 = 0; // [tokens] of the norm before the feed-forward part
  std::uint64_t gateUp = 0;      // [tokens, 2 ffn]; gradient in place
  // Of norms of heads only: queries and keys before them, and their reciprocals, head after head.
  std::uint64_t rawHeads = 0, headReciprocals = 0;
  std::uint64_t bytes = 0;
};

/// What a layer's input gradient leaves for its weight gradient.
struct LayerWeightStash {
  std::uint64_t activated = 0;      // [tokens, ffn] silu(gate) up
  std::uint64_t middleGradient = 0; // [tokens, hidden]
  std::uint64_t normGradients = 0;  // [2, hidden], then, of norms of heads, [2, headWidth]
  std::uint64_t bytes = 0;
};

/// What slices of the same samples keep for each other, row after row `segment · rows + position`:
/// of each layer keys and values, and in a region of its own their gradients. Bytes of one layer.
struct SliceRegions {
  std::uint64_t rows = 0; // of a segment; 0: samples are whole
  std::uint64_t keyValues = 0, gradients = 0;
};

struct StageRegions {
  SliceRegions context;

  // stash
  KeptStates states;
  std::uint64_t layers = 0; // offset of the first layer's part, if there is one
  LayerStash layer;
  std::uint64_t finalReciprocal = 0,
                logits = 0; // head only: [tokens], [tokens, vocab]; dlogits in place
  std::uint64_t stashBytes = 0;

  // weight stash; gradients of the kept states lie as the states do in the stash
  std::uint64_t weightLayers = 0;
  LayerWeightStash weightLayer;
  std::uint64_t weightKept = 0;        // stashes of recomputed layers
  std::uint64_t finalNormGradient = 0; // head only: [hidden]
  std::uint64_t weightStashBytes = 0;

  // workspace: `scratch` at 0 in every task, then:
  std::uint64_t forwardLayer = 0, // the stash of a layer that will be recomputed
      forwardKernels = 0, forwardWorkspace = 0;
  std::uint64_t inputKernels = 0, backwardInputWorkspace = 0;
  std::uint64_t weightKernels = 0, backwardWeightWorkspace = 0;
  // ... and the combined backward keeps one layer's weight stash and two gradients of states in
  // turn
  std::uint64_t backwardKept = 0, // the stash of the layer that is recomputed
      backwardLayer = 0, backwardStates = 0, backwardFinalNorm = 0, backwardKernels = 0,
                backwardWorkspace = 0;
};

StageRegions stageRegions(const ModelConfig &config, StageRange range, MicrobatchCaps caps);

/// Elements of a row of queries, keys and values.
constexpr std::uint64_t queryWidth(const ModelConfig &c) {
  return std::uint64_t(c.heads) * c.headWidth;
}
constexpr std::uint64_t keyValueWidth(const ModelConfig &c) {
  return std::uint64_t(c.kvHeads) * c.headWidth;
}
constexpr std::uint64_t qkvWidth(const ModelConfig &c) {
  return queryWidth(c) + 2 * keyValueWidth(c);
}

/// Of a tied matrix, or of its gradient, in its type.
constexpr std::uint64_t tiedBytes(const ModelConfig &c, DataType type) {
  return std::uint64_t(c.vocab) * c.hidden * sizeOf(type);
}

constexpr bool hasQkvBias(const ModelConfig &c) { return c.family == ModelFamily::Qwen2; }
constexpr bool hasHeadNorms(const ModelConfig &c) { return c.family == ModelFamily::Qwen3; }

constexpr std::uint64_t alignRegion(std::uint64_t bytes) {
  return (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

} // namespace vime
