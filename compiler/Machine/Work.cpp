#include "compiler/Machine/Work.h"

#include "kernels/SumType.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

using plan::Opcode;

namespace {

/// The sizes of a model as reals, and those of a microbatch.
struct Sizes {
  Sizes(const ModelConfig &config, const MicrobatchCaps &caps)
      : hidden(config.hidden), ffn(config.ffn), vocab(config.vocab),
        query(static_cast<double>(queryWidth(config))), qkv(static_cast<double>(qkvWidth(config))),
        tokens(caps.tokens), element(static_cast<double>(sizeOf(config.type))),
        sum(static_cast<double>(sizeOf(sumTypeOf(config.type)))), pairs(pairsOf(caps)),
        matrices(qkv * hidden + query * hidden + 3 * ffn * hidden) {}

  double hidden, ffn, vocab, query, qkv, tokens;
  double element, sum; // bytes of an activation, and of what adds up
  double pairs;        // of a query and a key, of all samples of a microbatch
  double matrices;     // elements of a layer's matrices

private:
  /// A token sees itself and all before it in its sample. Slices of a sample share its pairs.
  static double pairsOf(const MicrobatchCaps &caps) {
    const double sequence = caps.segmentTokens, slices = caps.slices;
    const double samples = sequence == 0 ? 0 : caps.tokens * slices / sequence;
    return samples * sequence * (sequence + 1) / 2 / slices;
  }
};

// Bytes: every kernel reads its operands and writes its result once, weights included.

PartWork forward(const Sizes &s) {
  const double words = 10 * s.hidden + 4 * s.qkv + 2 * s.query + 6 * s.ffn;
  return {.layer = {2 * s.tokens * s.matrices + 4 * s.query * s.pairs,
                    s.element * (s.matrices + s.tokens * words)},
          .embedding = {0, 2 * s.element * s.tokens * s.hidden},
          .head = {2 * s.tokens * s.hidden * s.vocab,
                   s.element * (s.vocab * s.hidden + s.tokens * (3 * s.hidden + s.vocab))}};
}

/// The same products with weights transposed. Attention computes its weights again: five products
/// of a pair instead of two.
PartWork backwardInput(const Sizes &s) {
  const double words = 12 * s.hidden + 5 * s.qkv + 3 * s.query + 9 * s.ffn;
  return {.layer = {2 * s.tokens * s.matrices + 10 * s.query * s.pairs,
                    s.element * (s.matrices + s.tokens * words)},
          .embedding = {},
          .head = {2 * s.tokens * s.hidden * s.vocab,
                   s.element * (s.vocab * s.hidden + s.tokens * (4 * s.hidden + s.vocab))}};
}

/// Gradients are read and written: they add up.
PartWork backwardWeight(const Sizes &s) {
  const double words = 8 * s.hidden + s.qkv + s.query + 3 * s.ffn;
  return {
      .layer = {2 * s.tokens * s.matrices, 2 * s.sum * s.matrices + s.element * s.tokens * words},
      .embedding = {0, (s.element + 2 * s.sum) * s.tokens * s.hidden},
      .head = {2 * s.tokens * s.hidden * s.vocab,
               2 * s.sum * s.vocab * s.hidden + s.element * s.tokens * (3 * s.hidden + s.vocab)}};
}

/// A layer's forward once more, up to its last product.
PartWork recompute(const Sizes &s) {
  PartWork again{.layer = forward(s).layer, .embedding = {}, .head = {}};
  again.layer.flops -= 2 * s.tokens * s.ffn * s.hidden;
  again.layer.bytes -=
      s.element * (s.ffn * s.hidden + s.tokens * (4 * s.ffn + 2 * s.hidden)); // with silu(g) · u
  return again;
}

PartWork operator+(const PartWork &one, const PartWork &other) {
  return {one.layer + other.layer, one.embedding + other.embedding, one.head + other.head};
}

PartWork perParameter(const ModelConfig &config, const Sizes &s, double bytes,
                      std::uint32_t sharers) {
  const double each = bytes / sharers, matrix = s.vocab * s.hidden;
  return {.layer = {0, each * (s.matrices + 2 * s.hidden)},
          .embedding = {0, each * matrix},
          .head = {0, each * ((config.tiedHead ? 0 : matrix) + s.hidden)}};
}

} // namespace

PartWork workOf(const ModelConfig &config, const MicrobatchCaps &caps, Opcode opcode,
                std::uint32_t sharers) {
  if (!isDecoder(config.family))
    return {};
  const Sizes s(config, caps);
  const PartWork again = config.recomputesLayers ? recompute(s) : PartWork{};
  // Both moments and the parameters; of these the rounded weights too, where they are others.
  const double state = 3 * s.sum, rounded = s.sum == s.element ? 0 : s.element;
  const auto parameters = [&](double bytes) { return perParameter(config, s, bytes, sharers); };
  switch (opcode) {
  case Opcode::Forward:
  case Opcode::Evaluate:
  case Opcode::Infer:
    return forward(s);
  case Opcode::Loss: // logits are read twice and become their gradient
  case Opcode::EvaluateLoss:
    return {.layer = {}, .embedding = {}, .head = {0, 3 * s.element * s.tokens * s.vocab}};
  case Opcode::PolicyLoss: // and before that read for log-probabilities and for entropies
    return {.layer = {}, .embedding = {}, .head = {0, 5 * s.element * s.tokens * s.vocab}};
  case Opcode::LogProbabilities:
    return {.layer = {}, .embedding = {}, .head = {0, s.element * s.tokens * s.vocab}};
  case Opcode::BackwardInput:
    return again + backwardInput(s);
  case Opcode::BackwardWeight:
    return backwardWeight(s);
  case Opcode::Backward:
    return again + backwardInput(s) + backwardWeight(s);
  case Opcode::ScaleGradients:
    return parameters(2 * s.sum);
  case Opcode::SquareNorm:
    return parameters(s.sum);
  case Opcode::Optimize:
    return parameters(s.sum + 2 * state + rounded);
  case Opcode::OptimizeEarly: // keeps the state first
    return parameters(s.sum + 4 * state + rounded);
  case Opcode::Redo:
    return parameters(s.sum + 2 * state + rounded);
  case Opcode::AddTied:
    return {.layer = {}, .embedding = {0, 3 * s.sum * s.vocab * s.hidden}, .head = {}};
  case Opcode::Snapshot:
  case Opcode::CheckpointShard:
    return parameters(state);
  case Opcode::ExportShard:
    return parameters(s.element);
  default:
    return {};
  }
}

} // namespace vime
