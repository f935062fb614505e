// Losses of policy optimisation against LibTorch autograd in float64, which starts at
// log-probabilities, entropies and values of whole padded batches; and for every packing the bits
// of the step as one microbatch.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runtime/Policy/LossDenominators.h"
#include "runtime/Policy/PolicyLoss.h"
#include "runtime/Policy/ValueLoss.h"

namespace vime {
namespace {

using torch::Tensor;
using Numbers = std::vector<double>;

constexpr double kTolerance = 1e-10;
constexpr double kBeyond = 0.15; // OPSM

/// Random sequences: of each what a step knows, and its numbers, token by token.
struct Batch {
  std::vector<StepSequence> step;
  std::vector<std::uint32_t> begins = {0};
  std::vector<std::uint8_t> mask;
  Numbers now, old, sampled, reference, entropies, advantages;
};

Batch randomBatch(unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * double(random()) / 0x1p32;
  };
  Batch batch;
  for (std::uint32_t sequence = 0; sequence < 12; ++sequence) {
    const std::uint32_t length = 1 + random() % 20;
    const double advantage = uniform(-2, 2);
    std::uint32_t trained = 0;
    for (std::uint32_t token = 0; token < length; ++token) {
      batch.mask.push_back(sequence != 5 && random() % 4 != 0 ? 1 : 0); // one is all masked
      trained += batch.mask.back();
      batch.old.push_back(uniform(-6, -0.5));
      batch.now.push_back(batch.old.back() + uniform(-0.7, 0.7));
      batch.sampled.push_back(batch.old.back() + uniform(-1, 1));
      batch.reference.push_back(batch.old.back() + uniform(-1, 1));
      batch.entropies.push_back(uniform(0, 4));
      batch.advantages.push_back(sequence % 2 == 0 ? advantage : uniform(-2, 2));
    }
    batch.begins.push_back(std::uint32_t(batch.mask.size()));
    batch.step.push_back({.rollout = sequence / 2 * 2 + sequence % 4 / 2, // some fanned out
                          .prompt = sequence / 4,
                          .tokens = trained});
  }
  batch.now[2] = batch.reference[2] + 0.5;
  batch.reference[3] = batch.now[3] + 4; // k3 beyond its most
  batch.mask[2] = batch.mask[3] = 1;
  batch.step[0].tokens = 0;
  for (std::uint32_t token = 0; token < batch.begins[1]; ++token)
    batch.step[0].tokens += batch.mask[token];
  return batch;
}

struct Case {
  std::string name;
  PolicyLossSettings settings;
  LossUnit unit = LossUnit::Token;
};

std::vector<Case> cases() {
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

/// What a loss gives, over all tokens of the step.
struct Result {
  Numbers byLogProbability, byEntropy;
  double loss = 0;
  PolicyLossSums sums;
};

/// The sequences in these microbatches, each of which is made alone, on the replica with its number
/// modulo their number.
Result ours(const Case &made, const Batch &batch, const Numbers &denominators,
            const std::vector<std::vector<std::uint32_t>> &microbatches, std::size_t replicas) {
  Result result{Numbers(batch.mask.size()), Numbers(batch.mask.size())};
  std::vector<PolicyLossSums> sums(replicas);
  for (std::size_t microbatch = 0; microbatch < microbatches.size(); ++microbatch) {
    Batch packed;
    Numbers divided;
    const auto append = [&](auto &to, const auto &from, std::uint32_t sequence) {
      to.insert(to.end(), from.begin() + batch.begins[sequence],
                from.begin() + batch.begins[sequence + 1]);
    };
    for (const std::uint32_t sequence : microbatches[microbatch]) {
      append(packed.mask, batch.mask, sequence);
      append(packed.now, batch.now, sequence);
      append(packed.old, batch.old, sequence);
      append(packed.sampled, batch.sampled, sequence);
      append(packed.reference, batch.reference, sequence);
      append(packed.entropies, batch.entropies, sequence);
      append(packed.advantages, batch.advantages, sequence);
      packed.begins.push_back(std::uint32_t(packed.mask.size()));
      divided.push_back(denominators[sequence]);
    }
    Numbers byLogProbability(packed.mask.size()), byEntropy(packed.mask.size());
    const Status status = policyLoss(made.settings,
                                     {.sequences = {packed.begins, packed.mask},
                                      .logProbabilities = packed.now,
                                      .old = packed.old,
                                      .sampled = packed.sampled,
                                      .reference = packed.reference,
                                      .entropies = packed.entropies,
                                      .advantages = packed.advantages,
                                      .denominators = divided},
                                     {byLogProbability, byEntropy}, sums[microbatch % replicas]);
    EXPECT_TRUE(status.ok()) << status.message();
    std::uint32_t at = 0;
    for (const std::uint32_t sequence : microbatches[microbatch])
      for (std::uint32_t token = batch.begins[sequence]; token < batch.begins[sequence + 1];
           ++token, ++at) {
        result.byLogProbability[token] = byLogProbability[at];
        result.byEntropy[token] = byEntropy[at];
      }
  }
  for (const PolicyLossSums &replica : sums)
    result.sums.add(replica);
  result.loss = result.sums.loss.value();
  return result;
}

/// One row a sequence, and 0 behind its end.
Tensor padded(const Batch &batch, const Numbers &numbers) {
  const auto rows = std::int64_t(batch.step.size());
  Tensor result = torch::zeros({rows, 32}, torch::kFloat64);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::uint32_t token = batch.begins[row]; token < batch.begins[row + 1]; ++token)
      result[row][token - batch.begins[row]] = numbers[token];
  return result;
}
Numbers unpadded(const Batch &batch, const Tensor &tensor) {
  Numbers result;
  const auto cells = tensor.accessor<double, 2>();
  for (std::int64_t row = 0; row < std::int64_t(batch.step.size()); ++row)
    for (std::uint32_t token = batch.begins[row]; token < batch.begins[row + 1]; ++token)
      result.push_back(cells[row][token - batch.begins[row]]);
  return result;
}

/// The mean that the unit says, of a padded loss without masked tokens.
Tensor reduced(LossUnit unit, const Batch &batch, const Tensor &loss, const Tensor &mask,
               double constant) {
  if (unit == LossUnit::Token)
    return (loss * mask).sum() / mask.sum();
  std::map<std::uint32_t, std::pair<Tensor, Tensor>> units; // sums of losses and of tokens
  for (std::uint32_t row = 0; row < batch.step.size(); ++row) {
    const std::uint32_t key = unit == LossUnit::Sequence ? row
                              : unit == LossUnit::Prompt ? batch.step[row].prompt
                                                         : batch.step[row].rollout;
    const Tensor sum = (loss[row] * mask[row]).sum(), tokens = mask[row].sum();
    const auto [at, first] = units.try_emplace(key, sum, tokens);
    if (!first)
      at->second = {at->second.first + sum, at->second.second + tokens};
  }
  Tensor total = torch::zeros({}, torch::kFloat64);
  for (const auto &[key, sums] : units)
    total = total + sums.first / (unit == LossUnit::Constant
                                      ? torch::full({}, constant, torch::kFloat64)
                                      : sums.second.clamp_min(1));
  return total / double(units.size());
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

Result theirs(const Case &made, const Batch &batch, double constant) {
  const PolicyLossSettings &settings = made.settings;
  const Tensor now = padded(batch, batch.now).set_requires_grad(true);
  const Tensor entropies = padded(batch, batch.entropies).set_requires_grad(true);
  const Tensor old = padded(batch, batch.old), advantages = padded(batch, batch.advantages);
  const Tensor mask = padded(batch, Numbers(batch.mask.begin(), batch.mask.end()));
  const Tensor mean =
      ((now - old) * mask).sum(1, true) / mask.sum(1, true).clamp_min(1); // of a sequence
  const Tensor ratio =
      settings.objective == Objective::Gspo ? mean.exp().expand_as(now) : (now - old).exp();
  Tensor weight = weightOf(settings, settings.objective == Objective::Reinforce ? now : old,
                           padded(batch, batch.sampled));
  if (std::isfinite(settings.offPolicy.mostDrift))
    weight = torch::where((advantages < 0).logical_and(-mean > settings.offPolicy.mostDrift),
                          torch::zeros_like(weight), weight);
  Tensor loss = weight.detach() * objectiveOf(settings, ratio, now, advantages);
  if (settings.kl)
    loss = loss + settings.kl->coefficient *
                      klOf(settings.kl->estimator, now - padded(batch, batch.reference));
  loss = loss - settings.entropy * entropies;
  const Tensor total = reduced(made.unit, batch, loss, mask, constant);
  total.backward();
  return {unpadded(batch, now.grad()), unpadded(batch, entropies.grad()), total.item<double>(), {}};
}

void expectNear(const Numbers &found, const Numbers &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t place = 0; place < found.size(); ++place)
    EXPECT_NEAR(found[place], expected[place], kTolerance) << "token " << place;
}

std::vector<std::vector<std::uint32_t>> randomPacking(std::size_t sequences, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> order(sequences);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<std::uint32_t>> microbatches(1 + random() % 7);
  for (const std::uint32_t sequence : order)
    microbatches[random() % microbatches.size()].push_back(sequence);
  return microbatches; // some may be empty
}

TEST(PolicyOracle, LossesAndGradientsAreThoseOfAutograd) {
  constexpr double kConstant = 24;
  for (const Case &made : cases())
    for (unsigned seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(made.name + ", seed " + std::to_string(seed));
      const Batch batch = randomBatch(seed);
      const auto denominators = lossDenominators(made.unit, batch.step, std::uint32_t(kConstant));
      ASSERT_TRUE(denominators.ok());
      std::vector<std::uint32_t> all(batch.step.size());
      std::iota(all.begin(), all.end(), 0u);
      const Result whole = ours(made, batch, *denominators, {all}, 1);
      const Result expected = theirs(made, batch, kConstant);
      EXPECT_NEAR(whole.loss, expected.loss, kTolerance);
      expectNear(whole.byLogProbability, expected.byLogProbability);
      if (made.settings.entropy != 0)
        expectNear(whole.byEntropy, expected.byEntropy);

      for (unsigned packing = 0; packing < 5; ++packing) {
        const Result packed = ours(made, batch, *denominators,
                                   randomPacking(batch.step.size(), packing), 1 + packing % 3);
        EXPECT_EQ(packed.byLogProbability, whole.byLogProbability);
        EXPECT_EQ(packed.byEntropy, whole.byEntropy);
        EXPECT_EQ(packed.loss, whole.loss);
        EXPECT_EQ(packed.sums.ratio.value(), whole.sums.ratio.value());
        EXPECT_EQ(packed.sums.kl.value(), whole.sums.kl.value());
        EXPECT_EQ(packed.sums.weight.value(), whole.sums.weight.value());
        EXPECT_EQ(packed.sums.clipped, whole.sums.clipped);
        EXPECT_EQ(packed.sums.tokens, whole.sums.tokens);
      }
    }
}

/// Else the comparison says less than its cases promise.
TEST(PolicyOracle, CasesReachWhatTheyAreNamedAfter) {
  const std::vector<Case> all = cases();
  for (const Case &made : all) {
    PolicyLossSums sums;
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const Batch batch = randomBatch(seed);
      const auto denominators = lossDenominators(made.unit, batch.step, 24);
      ASSERT_TRUE(denominators.ok());
      sums.add(ours(made, batch, *denominators, randomPacking(batch.step.size(), 1), 1).sums);
    }
    const Objective objective = made.settings.objective;
    EXPECT_EQ(sums.clipped != 0,
              objective != Objective::Reinforce && objective != Objective::Likelihood)
        << made.name;
    EXPECT_EQ(sums.corrected != 0, made.settings.offPolicy.correction != Correction::None)
        << made.name;
    EXPECT_EQ(sums.leftOut != 0, std::isfinite(made.settings.offPolicy.mostDrift)) << made.name;
    EXPECT_LT(sums.clipped, sums.tokens) << made.name;
  }
}

TEST(PolicyOracle, OfTheCriticToo) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Batch batch = randomBatch(seed);
    const auto denominators = lossDenominators(LossUnit::Rollout, batch.step);
    ASSERT_TRUE(denominators.ok());
    Numbers gradient(batch.mask.size());
    ValueLossSums sums;
    const Status status = valueLoss(
        {.clip = 0.4},
        {{batch.begins, batch.mask}, batch.now, batch.old, batch.reference, *denominators},
        gradient, sums);
    ASSERT_TRUE(status.ok()) << status.message();

    const Tensor values = padded(batch, batch.now).set_requires_grad(true);
    const Tensor old = padded(batch, batch.old), returns = padded(batch, batch.reference);
    const Tensor mask = padded(batch, Numbers(batch.mask.begin(), batch.mask.end()));
    const Tensor kept = old + (values - old).clamp(-0.4, 0.4);
    const Tensor loss = torch::maximum((values - returns).square(), (kept - returns).square());
    const Tensor total = reduced(LossUnit::Rollout, batch, loss, mask, 0);
    total.backward();
    EXPECT_NEAR(sums.loss.value(), total.item<double>(), kTolerance);
    expectNear(gradient, unpadded(batch, values.grad()));
    EXPECT_GT(sums.clipped, 0u);
  }
}

} // namespace
} // namespace vime
