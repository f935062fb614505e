// PolicyLoss: the loss of each token of a microbatch, and its derivatives by the token's
// log-probability and entropy.
//
//   PolicyLossSums sums;                                     // of the step
//   Status made = policyLoss({.objective = Objective::PpoClip, .clipHigh = 0.28},
//                            {.sequences = sequences, .logProbabilities = now, .old = before,
//                             .advantages = advantages, .denominators = denominators},
//                            {.byLogProbability = gradient}, sums);
//
// With r = p / p_old, A the advantage, [r] = r kept within 1 - clipLow … 1 + clipHigh:
//
//   PpoClip      max(-r A, -[r] A); where A < 0 no more than -dualClip · A (1707.06347, 1912.09729)
//   Gspo         the same, r being e to the mean of log p - log p_old over the sequence
//   (2507.18071) Cispo        -[r] A log p, [r] without slope (2506.13585) Reinforce    -A log p
//   Likelihood   -log p: supervised training
//
// A token's loss is w · objective + kl · KL - entropy · H, divided by its sequence's denominator
// (LossDenominators.h); w is the weight of OffPolicy.h. Each derivative is made of its sequence
// alone, and sums are exact, so both have the same bits for every packing. Where log-probabilities
// equal the old ones and those of the reference, r is exactly 1 and the KL exactly 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/Base/Status.h"
#include "runtime/Policy/ExactSum.h"
#include "runtime/Policy/KlEstimate.h"
#include "runtime/Policy/OffPolicy.h"
#include "runtime/Policy/Sequences.h"

namespace vime {

enum class Objective : std::uint8_t { PpoClip, Gspo, Cispo, Reinforce, Likelihood };

struct KlTerm {
  KlEstimator estimator = KlEstimator::K3;
  double coefficient = 0;
};

struct PolicyLossSettings {
  Objective objective = Objective::PpoClip;
  double clipLow = 0.2, clipHigh = 0.2; // Cispo: 1 and more is no lower clip
  std::optional<double> dualClip;       // more than 1
  OffPolicy offPolicy;
  std::optional<KlTerm> kl;
  double entropy = 0; // coefficient
};

/// Numbers of tokens; what an objective does not use may be empty.
struct PolicyLossInputs {
  Sequences sequences;
  std::span<const double> logProbabilities;
  std::span<const double> old;       // PpoClip, Gspo, Cispo; the same span as above in a first step
  std::span<const double> sampled;   // the engine's: with a correction
  std::span<const double> reference; // with a KL term
  std::span<const double> entropies; // with an entropy coefficient
  std::span<const double> advantages;
  std::span<const double> denominators; // of each sequence
};

/// Of tokens with mask 0 they are 0.
struct PolicyLossGradients {
  std::span<double> byLogProbability;
  std::span<double> byEntropy = {}; // with an entropy coefficient
};

/// Sums over tokens with mask 1. `loss` is the loss; the others are plain sums, to be divided by
/// `tokens`.
struct PolicyLossSums {
  ExactSum loss, ratio, drift, kl, entropy, weight;
  std::uint64_t tokens = 0;
  std::uint64_t clipped = 0;   // where clipping took the slope away, or of Cispo changed the factor
  std::uint64_t corrected = 0; // where the weight is not the ratio to the sampler
  std::uint64_t leftOut = 0;   // OPSM

  void add(const PolicyLossSums &other);
};

/// Adds to `sums`. A loss that is not finite is an error that names the token; then gradients and
/// sums are not to be used.
Status policyLoss(const PolicyLossSettings &settings, const PolicyLossInputs &inputs,
                  const PolicyLossGradients &gradients, PolicyLossSums &sums);

} // namespace vime
