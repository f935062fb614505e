// PolicyWorkspace: where everything lies in the workspace of a task that looks at the
// log-probabilities of a microbatch's labels.
#pragma once

#include <cstdint>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

/// Offsets in bytes from the start of the workspace.
struct PolicyWorkspace {
  std::uint64_t logProbabilities = 0, entropies = 0; // [tokens] double
  std::uint64_t byLogProbability = 0, byEntropy = 0; // [tokens] double
  std::uint64_t begins = 0;                          // [segments + 1] uint32
  std::uint64_t mask = 0;                            // [tokens] bytes
  std::uint64_t weights = 0; // [vocab] of a softmax, of sumTypeOf the model's
  std::uint64_t bytes = 0;
};

inline PolicyWorkspace policyWorkspaceOf(const ModelConfig &config, MicrobatchCaps caps) {
  PolicyWorkspace at;
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t here = at.bytes;
    at.bytes += alignRegion(bytes);
    return here;
  };
  const std::uint64_t row = std::uint64_t(caps.tokens) * sizeof(double);
  at.logProbabilities = take(row);
  at.entropies = take(row);
  at.byLogProbability = take(row);
  at.byEntropy = take(row);
  at.begins = take((std::uint64_t(caps.segments) + 1) * sizeof(std::uint32_t));
  at.mask = take(caps.tokens);
  at.weights = take(std::uint64_t(config.vocab) * sizeOf(sumTypeOf(config.type)));
  return at;
}

inline std::uint64_t policyWorkspace(const ModelConfig &config, MicrobatchCaps caps) {
  return policyWorkspaceOf(config, caps).bytes;
}

} // namespace vime
