// LossDenominators: what the loss of a token is divided by, counted over the whole step.
//
//   const StepSequence step[] = {{.rollout = 0, .prompt = 0, .tokens = 3}, {1, 0, 5}};
//   lossDenominators(LossUnit::Token, step)     // 8, 8: the mean of all tokens
//   lossDenominators(LossUnit::Rollout, step)   // 6, 10: the mean of the rollouts' means
//
// They follow from counts of the whole step, never from a microbatch: so a token's loss and
// gradient are the same numbers however the step is packed, and sums over microbatches and replicas
// are the step's. All are whole numbers, exact in float64 up to 2^53.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

enum class LossUnit : std::uint8_t {
  Token,    // the mean of all tokens (DAPO, 2503.14476)
  Sequence, // the mean of the sequences' means
  Rollout,  // the mean of the rollouts' means: samples of one execution count as one sequence
  Prompt,   // the mean of the prompts' means
  Constant, // each rollout's sum over a constant, the mean of them (Dr. GRPO, 2503.20783)
};

struct StepSequence {
  std::uint32_t rollout; // which execution it is part of, any number
  std::uint32_t prompt;
  std::uint32_t tokens; // with mask 1
};

/// Of each sequence's tokens. A unit without tokens adds no loss and counts as a unit.
/// `constant`: of LossUnit::Constant, as the longest answer. A step without any token is an error.
StatusOr<std::vector<double>> lossDenominators(LossUnit unit, std::span<const StepSequence> step,
                                               std::uint32_t constant = 0);

} // namespace vime
