// PolicyWorkspace: where everything lies in the workspace of a task that looks at the
// log-probabilities of a microbatch's labels.
#pragma once

#include <cstdint>

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

/// Offsets in bytes from the start of the workspace.
struct PolicyWorkspace {
  std::uint64_t logProbabilities = 0, entropies = 0; // [tokens] double
  std::uint64_t byLogProbability = 0, byEntropy = 0; // [tokens] double
  std::uint64_t mask = 0;                            // [tokens] bytes
  std::uint64_t bytes = 0;
};

constexpr PolicyWorkspace policyWorkspaceOf(MicrobatchCaps caps) {
  const std::uint64_t row = alignRegion(std::uint64_t(caps.tokens) * sizeof(double));
  return {.logProbabilities = 0,
          .entropies = row,
          .byLogProbability = 2 * row,
          .byEntropy = 3 * row,
          .mask = 4 * row,
          .bytes = 4 * row + alignRegion(caps.tokens)};
}

/// Whatever the model is.
constexpr std::uint64_t policyWorkspace(const ModelConfig &, MicrobatchCaps caps) {
  return policyWorkspaceOf(caps).bytes;
}

} // namespace vime
