// Losses of policy optimisation against LibTorch autograd in float64, which starts at
// log-probabilities, entropies and values of whole padded batches; and for every packing the bits
// of the step as one microbatch.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/Policy/ValueLoss.h"
#include "tests/Oracle/TorchPolicy.h"

namespace vime {
namespace {

using torch::Tensor;
using Numbers = std::vector<double>;

constexpr double kTolerance = 1e-10;

/// Random sequences.
struct Batch : PolicySamples {
  Numbers now, entropies;
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

/// What a loss gives, over all tokens of the step.
struct Result {
  Numbers byLogProbability, byEntropy;
  double loss = 0;
  PolicyLossSums sums;
};

/// The sequences in these microbatches, each of which is made alone, on the replica with its number
/// modulo their number.
Result ours(const PolicyCase &made, const Batch &batch, const Numbers &denominators,
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

Tensor leafOf(const Numbers &numbers) {
  return torch::tensor(numbers, torch::kFloat64).set_requires_grad(true);
}
Numbers gradientOf(const Tensor &leaf) {
  const Tensor gradient = leaf.grad().contiguous();
  return Numbers(gradient.data_ptr<double>(), gradient.data_ptr<double>() + gradient.numel());
}

Result theirs(const PolicyCase &made, const Batch &batch) {
  const Tensor now = leafOf(batch.now), entropies = leafOf(batch.entropies);
  const Tensor total = torchPolicyLoss(made, batch, now, entropies);
  total.backward();
  return {gradientOf(now), gradientOf(entropies), total.item<double>(), {}};
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
  for (const PolicyCase &made : policyCases())
    for (unsigned seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(made.name + ", seed " + std::to_string(seed));
      const Batch batch = randomBatch(seed);
      const auto denominators = lossDenominators(made.unit, batch.step, kPolicyConstant);
      ASSERT_TRUE(denominators.ok());
      std::vector<std::uint32_t> all(batch.step.size());
      std::iota(all.begin(), all.end(), 0u);
      const Result whole = ours(made, batch, *denominators, {all}, 1);
      const Result expected = theirs(made, batch);
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
  const std::vector<PolicyCase> all = policyCases();
  for (const PolicyCase &made : all) {
    PolicyLossSums sums;
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const Batch batch = randomBatch(seed);
      const auto denominators = lossDenominators(made.unit, batch.step, kPolicyConstant);
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

    const Tensor leaf = leafOf(batch.now), values = padded(batch, leaf);
    const auto row = [&](const Numbers &numbers) {
      return padded(batch, torch::tensor(numbers, torch::kFloat64));
    };
    const Tensor old = row(batch.old), returns = row(batch.reference);
    const Tensor kept = old + (values - old).clamp(-0.4, 0.4);
    const Tensor loss = torch::maximum((values - returns).square(), (kept - returns).square());
    const Tensor total = reducedLoss(LossUnit::Rollout, batch, loss);
    total.backward();
    EXPECT_NEAR(sums.loss.value(), total.item<double>(), kTolerance);
    expectNear(gradient, gradientOf(leaf));
    EXPECT_GT(sums.clipped, 0u);
  }
}

} // namespace
} // namespace vime
