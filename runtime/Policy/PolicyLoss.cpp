#include "runtime/Policy/PolicyLoss.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/Policy/SurrogateLoss.h"

namespace vime {
namespace {

bool usesRatio(Objective objective) {
  return objective == Objective::PpoClip || objective == Objective::Gspo ||
         objective == Objective::Cispo;
}

bool leavesOut(const OffPolicy &settings) { return std::isfinite(settings.mostDrift); }

/// The loss of one sequence after another.
class Loss {
public:
  Loss(const PolicyLossSettings &settings, const PolicyLossInputs &inputs,
       const PolicyLossGradients &gradients, PolicyLossSums &sums)
      : settings(settings), inputs(inputs), gradients(gradients), sums(sums) {}

  Status check() const;
  Status add(std::size_t sequence);

private:
  bool usesOld() const { return usesRatio(settings.objective) || leavesOut(settings.offPolicy); }
  double driftAt(std::uint32_t token) const {
    return inputs.logProbabilities[token] - inputs.old[token];
  }
  double advantageAt(std::uint32_t token) const {
    return settings.objective == Objective::Likelihood ? 1 : inputs.advantages[token];
  }
  double meanDrift(std::uint32_t begin, std::uint32_t end, std::uint32_t trained) const;
  double weightAt(std::uint32_t token, double mean);
  double regularise(std::uint32_t token, double denominator);

  const PolicyLossSettings &settings;
  const PolicyLossInputs &inputs;
  const PolicyLossGradients &gradients;
  PolicyLossSums &sums;
};

Status checkSettings(const PolicyLossSettings &settings) {
  if (!(settings.clipLow >= 0) || !(settings.clipHigh >= 0))
    return {StatusCode::InvalidInput, fmt::format("clip is {} and {}, one of them below 0",
                                                  settings.clipLow, settings.clipHigh)};
  if (settings.dualClip && !(*settings.dualClip > 1))
    return {StatusCode::InvalidInput,
            fmt::format("dual clip is {}, not more than 1", *settings.dualClip)};
  if (!(settings.offPolicy.low <= settings.offPolicy.high))
    return {StatusCode::InvalidInput, fmt::format("off-policy weights are from {} to {}",
                                                  settings.offPolicy.low, settings.offPolicy.high)};
  return {};
}

Status Loss::check() const {
  if (Status checked = checkSettings(settings); !checked.ok())
    return checked;
  if (Status checked = checkSequences(inputs.sequences); !checked.ok())
    return checked;
  const std::size_t tokens = inputs.sequences.tokens();
  const struct {
    const char *what;
    bool used;
    std::size_t found, expected;
  } rows[] = {
      {"log-probabilities", true, inputs.logProbabilities.size(), tokens},
      {"old log-probabilities", usesOld(), inputs.old.size(), tokens},
      {"sampled log-probabilities", settings.offPolicy.correction != Correction::None,
       inputs.sampled.size(), tokens},
      {"reference", settings.kl.has_value(), inputs.reference.size(), tokens},
      {"entropies", settings.entropy != 0, inputs.entropies.size(), tokens},
      {"advantages", settings.objective != Objective::Likelihood, inputs.advantages.size(), tokens},
      {"denominators", true, inputs.denominators.size(), inputs.sequences.count()},
      {"gradient by log-probability", true, gradients.byLogProbability.size(), tokens},
      {"gradient by entropy", settings.entropy != 0, gradients.byEntropy.size(), tokens}};
  for (const auto &row : rows)
    if (row.used)
      if (Status counted = checkCount(row.what, row.found, row.expected); !counted.ok())
        return counted;
  return {};
}

double Loss::meanDrift(std::uint32_t begin, std::uint32_t end, std::uint32_t trained) const {
  double sum = 0;
  for (std::uint32_t token = begin; token < end; ++token)
    if (inputs.sequences.mask[token] != 0)
      sum += driftAt(token);
  return trained == 0 ? 0 : sum / trained;
}

/// Against what sampled the token stands the policy before this round's steps, or, where no step
/// looks back at it, the present one.
double Loss::weightAt(std::uint32_t token, double mean) {
  double weight = 1;
  if (settings.offPolicy.correction != Correction::None) {
    const auto &policy = usesRatio(settings.objective) ? inputs.old : inputs.logProbabilities;
    const double ratio = std::exp(policy[token] - inputs.sampled[token]);
    weight = offPolicyWeight(settings.offPolicy, ratio);
    sums.corrected += weight != ratio ? 1 : 0;
  }
  if (leavesOut(settings.offPolicy) && advantageAt(token) < 0 &&
      -mean > settings.offPolicy.mostDrift) {
    weight = 0;
    ++sums.leftOut;
  }
  return weight;
}

/// Adds the slopes of KL and entropy; returns what they add to the loss.
double Loss::regularise(std::uint32_t token, double denominator) {
  double loss = 0;
  if (settings.kl) {
    const KlEstimate kl = klEstimate(settings.kl->estimator,
                                     inputs.logProbabilities[token] - inputs.reference[token]);
    loss += settings.kl->coefficient * kl.value;
    gradients.byLogProbability[token] += settings.kl->coefficient * kl.slope / denominator;
    sums.kl.add(kl.value);
  }
  if (settings.entropy != 0) {
    loss -= settings.entropy * inputs.entropies[token];
    gradients.byEntropy[token] = -settings.entropy / denominator;
    sums.entropy.add(inputs.entropies[token]);
  }
  return loss;
}

Status Loss::add(std::size_t sequence) {
  const std::uint32_t begin = inputs.sequences.begins[sequence];
  const std::uint32_t end = inputs.sequences.begins[sequence + 1];
  const std::uint32_t trained = trainedTokens(inputs.sequences, sequence);
  const double denominator = inputs.denominators[sequence];
  const double mean = usesOld() ? meanDrift(begin, end, trained) : 0;
  const bool whole = settings.objective == Objective::Gspo;
  double ofAll = 0; // Gspo: each token's loss has a slope by the log-probabilities of all
  for (std::uint32_t token = begin; token < end; ++token) {
    gradients.byLogProbability[token] = 0;
    if (settings.entropy != 0)
      gradients.byEntropy[token] = 0;
    if (inputs.sequences.mask[token] == 0)
      continue;
    const double ratio =
        usesRatio(settings.objective) ? std::exp(whole ? mean : driftAt(token)) : 1;
    const SurrogateLoss surrogate =
        surrogateLoss(settings, ratio, advantageAt(token), inputs.logProbabilities[token]);
    const double weight = weightAt(token, mean);
    if (whole)
      ofAll += weight * surrogate.slope;
    else
      gradients.byLogProbability[token] = weight * surrogate.slope / denominator;
    const double loss = (weight * surrogate.loss + regularise(token, denominator)) / denominator;
    if (!std::isfinite(loss))
      return {StatusCode::InvalidInput, fmt::format("loss of token {} of sequence {} is not finite",
                                                    token - begin, sequence)};
    sums.loss.add(loss);
    sums.ratio.add(ratio);
    sums.drift.add(usesOld() ? -driftAt(token) : 0);
    sums.weight.add(weight);
    sums.clipped += surrogate.clipped ? 1 : 0;
  }
  sums.tokens += trained;
  if (whole)
    for (std::uint32_t token = begin; token < end; ++token)
      if (inputs.sequences.mask[token] != 0)
        gradients.byLogProbability[token] += ofAll / trained / denominator;
  return {};
}

} // namespace

Status policyLoss(const PolicyLossSettings &settings, const PolicyLossInputs &inputs,
                  const PolicyLossGradients &gradients, PolicyLossSums &sums) {
  Loss loss(settings, inputs, gradients, sums);
  if (Status checked = loss.check(); !checked.ok())
    return checked;
  for (std::size_t sequence = 0; sequence < inputs.sequences.count(); ++sequence)
    if (Status added = loss.add(sequence); !added.ok())
      return added;
  return {};
}

void PolicyLossSums::add(const PolicyLossSums &other) {
  loss.add(other.loss);
  ratio.add(other.ratio);
  drift.add(other.drift);
  kl.add(other.kl);
  entropy.add(other.entropy);
  weight.add(other.weight);
  tokens += other.tokens;
  clipped += other.clipped;
  corrected += other.corrected;
  leftOut += other.leftOut;
}

} // namespace vime
