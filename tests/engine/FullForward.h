// FullForward: what the trainer computes for a sequence, by its stage and its loss, without a
// cache; and an engine made of that, which does the whole sequence again for every token.
//
//   const FullForward trainer(config, kernels, weights);
//   std::vector<double> expected = trainer.logProbabilities(tokens, /*from=*/promptTokens);
//   Finished response = trainer.generate(asked);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/Model/Stage.h"
#include "tests/engine/EngineRun.h"

namespace vime {

class FullForward {
public:
  FullForward(const ModelConfig &config, const Kernels &kernels, const GuardedRegion &weights,
              std::uint32_t rows);

  /// Of the tokens from position `from` on, each after those before it: minus the loss of the
  /// token.
  std::vector<double> logProbabilities(std::span<const std::int32_t> tokens,
                                       std::size_t from) const;
  /// The same as a round has it, with all labels at once.
  std::vector<double> logProbabilitiesOfRounds(std::span<const std::int32_t> tokens,
                                               std::size_t from) const;
  /// Draws by a sampler of its own, plain and slow; versions are 0.
  Finished generate(const Asked &asked) const;

private:
  /// [tokens, vocab], of the model's type.
  const void *logits(std::span<const std::int32_t> tokens) const;

  const ModelConfig config;
  const MicrobatchCaps caps;
  const Kernels &kernels;
  const GuardedRegion &weights;
  const StageSpec spec;
  std::unique_ptr<Stage> stage;
  GuardedRegion stash, workspace;
};

/// The probabilities of all words, as the comment of Sampler.h says, by sorting.
std::vector<double> distributionOf(const Sampling &sampling, const std::vector<double> &logits);

} // namespace vime
