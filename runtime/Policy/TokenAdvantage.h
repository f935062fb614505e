// TokenAdvantage: from rewards of sequences to advantages of tokens.
//
//   GRPO, RLOO                spreadOverTokens
//   REINFORCE++ baseline      spreadOverTokens, subtractKl, whitened (Whitening.h)
//   REINFORCE++               putOnLastToken, subtractKl, discountReturns, whitened
//   PPO                       putOnLastToken, subtractKl, generalisedAdvantages
//
// Tokens with mask 0 get 0 and are passed over: the next step of the policy is its next token with
// mask 1. Sequences are computed each for itself, from its last token to its first.
#pragma once

#include <span>

#include "runtime/Base/Status.h"
#include "runtime/Policy/KlEstimate.h"
#include "runtime/Policy/Sequences.h"

namespace vime {

/// tokens[t] = numbers[sequence of t].
Status spreadOverTokens(const Sequences &sequences, std::span<const double> numbers,
                        std::span<double> tokens);

/// The last token with mask 1 gets its sequence's reward, all others 0. A sequence without one has
/// no place for its reward: an error.
Status putOnLastToken(const Sequences &sequences, std::span<const double> rewards,
                      std::span<double> tokens);

/// tokens[t] -= coefficient · KL of `logProbabilities` (of the policy that sampled) from
/// `reference`.
Status subtractKl(const Sequences &sequences, KlEstimator estimator, double coefficient,
                  std::span<const double> logProbabilities, std::span<const double> reference,
                  std::span<double> tokens);

/// returns[t] = rewards[t] + discount · returns[t + 1]. `returns` may be `rewards`.
Status discountReturns(const Sequences &sequences, double discount, std::span<const double> rewards,
                       std::span<double> returns);

struct GaeSettings {
  double discount = 1; // gamma
  double decay = 1;    // lambda
};

/// GAE (1506.02438): with d[t] = rewards[t] + gamma · values[t + 1] - values[t],
/// advantages[t] = d[t] + gamma · lambda · advantages[t + 1]; returns = advantages + values, what
/// the critic is to learn. Behind the last token values are 0.
Status generalisedAdvantages(const Sequences &sequences, GaeSettings settings,
                             std::span<const double> rewards, std::span<const double> values,
                             std::span<double> advantages, std::span<double> returns);

} // namespace vime
