// TorchPolicy: losses of policy optimisation in plain LibTorch operations on whole padded batches,
// as a user of PyTorch would write them, for autograd to differentiate.
//
//   torch::Tensor loss = torchPolicyLoss(made, samples, logProbabilities, entropies);
//   loss.backward();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "runtime/Policy/LossDenominators.h"
#include "runtime/Policy/PolicyLoss.h"

namespace vime {

/// What a step knows of each of its samples, and of their tokens, one sample behind the other.
struct PolicySamples {
  std::vector<StepSequence> step;
  std::vector<std::uint32_t> begins = {0};
  std::vector<std::uint8_t> mask;
  std::vector<double> old, sampled, reference, advantages;
};

struct PolicyCase {
  std::string name;
  PolicyLossSettings settings;
  LossUnit unit = LossUnit::Token;
};
/// Every objective, estimator, correction and unit.
std::vector<PolicyCase> policyCases();
inline constexpr std::uint32_t kPolicyConstant = 24; // of LossUnit::Constant

/// Of rows of logits: log-probabilities of the labels, 0 where they are negative, and entropies.
struct TorchRows {
  torch::Tensor logProbabilities, entropies;
};
TorchRows policyOf(const torch::Tensor &logits, const std::vector<std::int32_t> &labels);

/// One row a sample, and 0 behind its end; `numbers` of all tokens.
torch::Tensor padded(const PolicySamples &samples, const torch::Tensor &numbers);

/// The mean that the unit says, of a padded loss.
torch::Tensor reducedLoss(LossUnit unit, const PolicySamples &samples, const torch::Tensor &loss);

/// Of log-probabilities and entropies of all tokens.
torch::Tensor torchPolicyLoss(const PolicyCase &made, const PolicySamples &samples,
                              const torch::Tensor &logProbabilities,
                              const torch::Tensor &entropies);

} // namespace vime
