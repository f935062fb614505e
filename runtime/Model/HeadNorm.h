// HeadNorm: RMSNorm of each head's queries and keys by itself, between their product and RoPE
// (Qwen3).
//
// All query heads share one weight, all key heads another. What the norms take, `raw`, is kept: the
// rows [tokens, heads + kvHeads heads]; their reciprocals are kept head after head, [tokens] each.
#pragma once

#include "kernels/Kernels.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

class HeadNorm {
public:
  /// The weights of both norms, or their gradients.
  template <typename Pointer> struct Weights {
    Pointer query, key;
  };

  HeadNorm(const ModelConfig &config, const Kernels &kernels) : config(config), kernels(kernels) {}

  /// Writes the normed queries and keys into rows of queries, keys and values.
  void forward(std::int64_t tokens, ConstMatrix raw, Weights<const void *> weights, Matrix qkv,
               void *reciprocals) const;

  /// In place: gradients of what the norms gave become gradients of `raw`. Those of the weights are
  /// overwritten, heads added in ascending order. `scratch` holds one head's: headWidth elements of
  /// the kernels' sumType().
  void backward(std::int64_t tokens, ConstMatrix raw, Weights<const void *> weights,
                const void *reciprocals, Matrix qkv, Weights<void *> weightGradients,
                void *scratch) const;

private:
  RmsNorm norm(std::int64_t tokens) const { return {tokens, config.headWidth, config.normEpsilon}; }

  const ModelConfig &config;
  const Kernels &kernels;
};

} // namespace vime
