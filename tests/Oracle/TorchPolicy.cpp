#include "tests/Oracle/TorchPolicy.h"

#include <cmath>
#include <map>

namespace vime {
namespace {

using torch::Tensor;

constexpr double kBeyond = 0.15; // OPSM

Tensor tensorOf(const std::vector<double> &numbers) {
  return torch::tensor(numbers, torch::kFloat64);
}

Tensor klOf(KlEstimator estimator, const Tensor &x) {
  return estimator == KlEstimator::K1   ? x
         : estimator == KlEstimator::K2 ? x.square() / 2
                                        : ((-x).exp() - 1 + x).clamp_max(kMostKl);
}

Tensor objectiveOf(const PolicyLossSettings &settings, const Tensor &ratio, const Tensor &now,
                   const Tensor &advantages) {
  const Tensor clipped = ratio.clamp(1 - settings.clipLow, 1 + settings.clipHigh);
  if (settings.objective == Objective::Cispo)
    return -clipped.detach() * advantages * now;
  if (settings.objective == Objective::Reinforce)
    return -advantages * now;
  if (settings.objective == Objective::Likelihood)
    return -now;
  const Tensor loss = torch::maximum(-ratio * advantages, -clipped * advantages);
  if (!settings.dualClip)
    return loss;
  return torch::where(advantages < 0, torch::minimum(loss, -*settings.dualClip * advantages), loss);
}

Tensor weightOf(const PolicyLossSettings &settings, const Tensor &policy, const Tensor &sampled) {
  const OffPolicy &off = settings.offPolicy;
  const Tensor ratio = (policy - sampled).exp().detach();
  if (off.correction == Correction::Truncated)
    return ratio.clamp(off.low, off.high);
  if (off.correction == Correction::IcePop)
    return torch::where((ratio >= off.low).logical_and(ratio <= off.high), ratio,
                        torch::zeros_like(ratio));
  return torch::ones_like(ratio);
}

Tensor maskOf(const PolicySamples &samples) {
  return padded(samples, tensorOf({samples.mask.begin(), samples.mask.end()}));
}

} // namespace

std::vector<PolicyCase> policyCases() {
  const OffPolicy tis{.correction = Correction::Truncated, .low = 0.5, .high = 1.5};
  const OffPolicy icePop{.correction = Correction::IcePop, .low = 0.5, .high = 2};
  return {
      {"ppo_clip", {}},
      {"grpo_clip_higher_k3",
       {.clipHigh = 0.28, .kl = KlTerm{KlEstimator::K3, 0.3}},
       LossUnit::Rollout},
      {"dual_clip", {.clipHigh = 0.28, .dualClip = 1.4}, LossUnit::Prompt},
      {"dr_grpo_k2", {.kl = KlTerm{KlEstimator::K2, 0.3}, .entropy = 0.1}, LossUnit::Constant},
      {"gspo",
       {.objective = Objective::Gspo, .clipLow = 0.05, .clipHigh = 0.06},
       LossUnit::Sequence},
      {"gspo_tis_dual",
       {.objective = Objective::Gspo, .clipLow = 0.1, .dualClip = 1.05, .offPolicy = tis},
       LossUnit::Sequence},
      {"cispo", {.objective = Objective::Cispo, .clipLow = 1, .clipHigh = 0.3}, LossUnit::Token},
      {"reinforce_tis_k1",
       {.objective = Objective::Reinforce, .offPolicy = tis, .kl = KlTerm{KlEstimator::K1, 0.3}},
       LossUnit::Rollout},
      {"ppo_ice_pop_entropy", {.offPolicy = icePop, .entropy = 0.2}, LossUnit::Token},
      {"ppo_opsm", {.offPolicy = {.mostDrift = kBeyond}}, LossUnit::Sequence},
      {"sft", {.objective = Objective::Likelihood}, LossUnit::Token},
  };
}

TorchRows policyOf(const Tensor &logits, const std::vector<std::int32_t> &labels) {
  const Tensor logs = logits.log_softmax(-1), of = torch::tensor(labels, torch::kInt64);
  return {logs.gather(1, of.clamp_min(0).unsqueeze(1)).squeeze(1) * (of >= 0),
          -(logs.exp() * logs).sum(-1)};
}

Tensor padded(const PolicySamples &samples, const Tensor &numbers) {
  std::int64_t longest = 0;
  for (std::size_t row = 0; row < samples.step.size(); ++row)
    longest = std::max<std::int64_t>(longest, samples.begins[row + 1] - samples.begins[row]);
  std::vector<Tensor> rows;
  for (std::size_t row = 0; row < samples.step.size(); ++row) {
    const std::int64_t begin = samples.begins[row], end = samples.begins[row + 1];
    rows.push_back(
        torch::constant_pad_nd(numbers.slice(0, begin, end), {0, longest - end + begin}));
  }
  return torch::stack(rows);
}

Tensor reducedLoss(LossUnit unit, const PolicySamples &samples, const Tensor &loss) {
  const Tensor mask = maskOf(samples);
  if (unit == LossUnit::Token)
    return (loss * mask).sum() / mask.sum();
  std::map<std::uint32_t, std::pair<Tensor, Tensor>> units; // sums of losses and of tokens
  for (std::uint32_t row = 0; row < samples.step.size(); ++row) {
    const std::uint32_t key = unit == LossUnit::Sequence ? row
                              : unit == LossUnit::Prompt ? samples.step[row].prompt
                                                         : samples.step[row].rollout;
    const Tensor sum = (loss[row] * mask[row]).sum(), tokens = mask[row].sum();
    const auto [at, first] = units.try_emplace(key, sum, tokens);
    if (!first)
      at->second = {at->second.first + sum, at->second.second + tokens};
  }
  Tensor total = torch::zeros({}, torch::kFloat64);
  for (const auto &[key, sums] : units)
    total = total + sums.first / (unit == LossUnit::Constant
                                      ? torch::full({}, double(kPolicyConstant), torch::kFloat64)
                                      : sums.second.clamp_min(1));
  return total / double(units.size());
}

Tensor torchPolicyLoss(const PolicyCase &made, const PolicySamples &samples,
                       const Tensor &logProbabilities, const Tensor &ofEntropies) {
  const PolicyLossSettings &settings = made.settings;
  const auto row = [&](const std::vector<double> &numbers) {
    return padded(samples, tensorOf(numbers));
  };
  const Tensor now = padded(samples, logProbabilities), entropies = padded(samples, ofEntropies);
  const Tensor old = row(samples.old), advantages = row(samples.advantages);
  const Tensor mask = maskOf(samples);
  const Tensor mean =
      ((now - old) * mask).sum(1, true) / mask.sum(1, true).clamp_min(1); // of a sequence
  const Tensor ratio =
      settings.objective == Objective::Gspo ? mean.exp().expand_as(now) : (now - old).exp();
  Tensor weight = weightOf(settings, settings.objective == Objective::Reinforce ? now : old,
                           row(samples.sampled));
  if (std::isfinite(settings.offPolicy.mostDrift))
    weight = torch::where((advantages < 0).logical_and(-mean > settings.offPolicy.mostDrift),
                          torch::zeros_like(weight), weight);
  Tensor loss = weight.detach() * objectiveOf(settings, ratio, now, advantages);
  if (settings.kl)
    loss = loss +
           settings.kl->coefficient * klOf(settings.kl->estimator, now - row(samples.reference));
  return reducedLoss(made.unit, samples, loss - settings.entropy * entropies);
}

} // namespace vime
