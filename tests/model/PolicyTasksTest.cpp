// The loss of a policy on logits: whatever the packing, whatever the number of stages, one answer
// in bits; of the plainest policy that of a text.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "runtime/Model/LlamaTensors.h"
#include "runtime/Model/PolicySettings.h"
#include "runtime/ModelSpec/StageRegions.h"
#include "tests/model/CountAllocations.h"
#include "tests/model/ModelRun.h"
#include "tests/model/Values.h"

namespace vime {
namespace {

constexpr MicrobatchCaps kCaps{.tokens = 48, .segments = 5, .segmentTokens = 20};

/// A batch whose samples have four tokens of a prompt, or all but one, and numbers of any kind.
PolicyBatch someBatch(const std::vector<std::int32_t> &lengths, std::uint32_t vocab) {
  PolicyBatch batch{randomBatch(lengths, vocab, 3)};
  const auto wave = [&](double speed) {
    std::vector<double> numbers;
    for (std::size_t token = 0; token < batch.tokens.size(); ++token)
      numbers.push_back(std::sin(speed * double(token + 1)));
    return numbers;
  };
  batch.advantages = wave(0.7);
  for (const double part : wave(1.3)) {
    batch.old.push_back(part / 3 - std::log(vocab));
    batch.sampled.push_back(-part / 5 - std::log(vocab));
    batch.reference.push_back(part * part / 4 - std::log(vocab));
  }
  for (std::size_t segment = 0; segment < lengths.size(); ++segment) {
    for (std::int32_t token = 0; token < std::min(4, lengths[segment] - 1); ++token)
      batch.labels[std::size_t(batch.offsets[segment] + token)] = -1;
    batch.denominators.push_back(double(lengths[segment] + 1));
  }
  return batch;
}

PolicyLossSettings everything(Objective objective) {
  return {.objective = objective,
          .clipLow = 0.1,
          .clipHigh = 0.1,
          .offPolicy = {.correction = Correction::Truncated, .low = 0.9, .high = 1.1},
          .kl = KlTerm{KlEstimator::K3, 0.2},
          .entropy = 0.1};
}

/// One segment of it alone.
PolicyBatch segmentOf(const PolicyBatch &batch, std::size_t segment) {
  const auto begin = std::size_t(batch.offsets[segment]),
             end = std::size_t(batch.offsets[segment + 1]);
  const auto cut = [&](const auto &all) {
    return std::decay_t<decltype(all)>(all.begin() + long(begin), all.begin() + long(end));
  };
  PolicyBatch part{{cut(batch.tokens), cut(batch.labels), {0, std::int32_t(end - begin)}}};
  part.advantages = cut(batch.advantages);
  part.old = cut(batch.old);
  part.sampled = cut(batch.sampled);
  part.reference = cut(batch.reference);
  part.denominators = {batch.denominators[segment]};
  return part;
}

class PolicyTasks : public testing::TestWithParam<DataType> {
protected:
  void SetUp() override {
    if (!nativeKernels(GetParam()))
      GTEST_SKIP() << nativeRefusal(GetParam());
  }
  const Kernels &kernels() const { return *nativeKernels(GetParam()); }
  const ModelConfig config{.type = GetParam(),
                           .layers = 4,
                           .hidden = 37,
                           .heads = 6,
                           .kvHeads = 2,
                           .headWidth = 10,
                           .ffn = 51,
                           .vocab = 43};
  ModelRun run(std::uint32_t stages) const { return {config, stages, kCaps, kernels(), 7}; }
  const PolicyBatch batch = someBatch({13, 1, 20, 0, 9}, config.vocab);

  /// Logits, or what became of them.
  std::vector<double> logitsOf(const ModelRun &run, std::size_t tokens) const {
    const StageRegions regions = stageRegions(config, run.parts.back().spec.range, kCaps);
    return doubles(bytesFrom(run.slots[0].back().stash.data(), regions.logits),
                   tokens * config.vocab, config.type);
  }
};

INSTANTIATE_TEST_SUITE_P(Native, PolicyTasks,
                         testing::Values(DataType::Float32, DataType::Float64, DataType::BFloat16),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(PolicyTasks, LogProbabilitiesAreLossesOfTheLabels) {
  ModelRun one = run(2);
  one.pass(batch);
  const std::vector<double> logits = logitsOf(one, batch.tokens.size());
  const std::vector<double> found = one.logProbabilities(batch);
  EXPECT_EQ(logitsOf(one, batch.tokens.size()), logits) << "they stay";
  for (std::size_t token = 0; token < found.size(); ++token) {
    Batch alone = batch;
    alone.labels.assign(batch.labels.size(), -1);
    alone.labels[token] = batch.labels[token];
    EXPECT_EQ(found[token], -one.forward(alone)) << token;
  }
}

TEST_P(PolicyTasks, WithAdvantagesOfOneReinforceIsTheLossOfAText) {
  PolicyBatch plain = batch;
  plain.advantages.assign(batch.tokens.size(), 1);
  plain.denominators.assign(batch.denominators.size(), 1);
  ModelRun one = run(1);
  const double loss = one.forward(plain);
  const std::vector<double> expected = logitsOf(one, plain.tokens.size());
  one.pass(plain);
  const plan::PolicyNumbers numbers = one.policyLoss(plain, {.objective = Objective::Reinforce});
  EXPECT_EQ(logitsOf(one, plain.tokens.size()), expected);
  EXPECT_NEAR(numbers.loss, loss, 1e-12 * loss);
  EXPECT_EQ(numbers.tokens, 9 + 1 + 16 + 5);
}

TEST_P(PolicyTasks, ASampleHasTheGradientThatItHasAlone) {
  for (const Objective objective :
       {Objective::PpoClip, Objective::Gspo, Objective::Cispo, Objective::Reinforce}) {
    ModelRun packed = run(2), alone = run(4);
    packed.pass(batch);
    const plan::PolicyNumbers all = packed.policyLoss(batch, everything(objective));
    const std::vector<double> gradient = logitsOf(packed, batch.tokens.size());
    plan::PolicyNumbers sum;
    for (std::size_t segment = 0; segment + 1 < batch.offsets.size(); ++segment) {
      const PolicyBatch part = segmentOf(batch, segment);
      alone.pass(part);
      const plan::PolicyNumbers numbers = alone.policyLoss(part, everything(objective));
      const std::vector<double> found = logitsOf(alone, part.tokens.size());
      EXPECT_TRUE(std::equal(found.begin(), found.end(),
                             gradient.begin() + batch.offsets[segment] * long(config.vocab)))
          << "segment " << segment;
      sum.loss += numbers.loss;
      sum.entropy += numbers.entropy;
      sum.tokens += numbers.tokens;
      sum.clipped += numbers.clipped;
      sum.drift = std::max(sum.drift, numbers.drift);
    }
    EXPECT_NEAR(sum.loss, all.loss, 1e-12);
    EXPECT_NEAR(sum.entropy, all.entropy, 1e-11);
    EXPECT_EQ(sum.tokens, all.tokens);
    EXPECT_EQ(sum.clipped, all.clipped);
    EXPECT_EQ(sum.drift, all.drift);
    EXPECT_GT(all.drift, 0.2) << "of old log-probabilities around log 43, by up to a third";
    EXPECT_GT(all.entropy / all.tokens, 3) << "of nearly equal words, log 43";
    EXPECT_TRUE(packed.fencesIntact());
    EXPECT_TRUE(alone.fencesIntact());
  }
}

TEST_P(PolicyTasks, TokensWithoutALabelHaveNoGradient) {
  ModelRun one = run(1);
  one.pass(batch);
  one.policyLoss(batch, everything(Objective::PpoClip));
  const std::vector<double> gradient = logitsOf(one, batch.tokens.size());
  for (std::size_t token = 0; token < batch.tokens.size(); ++token) {
    double largest = 0;
    for (std::uint32_t word = 0; word < config.vocab; ++word)
      largest = std::max(largest, std::abs(gradient[token * config.vocab + word]));
    EXPECT_EQ(largest == 0, batch.labels[token] < 0) << token;
  }
}

TEST_P(PolicyTasks, ALossThatIsNoNumberIsSeen) {
  PolicyBatch bad = batch;
  bad.advantages[7] = INFINITY;
  ModelRun one = run(1);
  one.pass(bad);
  EXPECT_TRUE(std::isnan(one.policyLoss(bad, everything(Objective::PpoClip)).loss));
  EXPECT_TRUE(std::isnan(logitsOf(one, bad.tokens.size())[7 * config.vocab]));
}

TEST_P(PolicyTasks, EmptyMicrobatchesHaveNumbersOfZero) {
  PolicyBatch empty;
  empty.offsets = {0};
  ModelRun one = run(1);
  one.pass(empty);
  const plan::PolicyNumbers numbers = one.policyLoss(empty, everything(Objective::PpoClip));
  EXPECT_EQ(numbers.loss, 0);
  EXPECT_EQ(numbers.tokens, 0);
}

TEST_P(PolicyTasks, AllocateNothing) {
  if (!allocationsSoFar())
    GTEST_SKIP() << "a sanitizer counts allocations here";
  ModelRun one = run(1);
  one.pass(batch);
  const std::uint64_t before = *allocationsSoFar();
  one.policyLoss(batch, everything(Objective::Gspo));
  EXPECT_EQ(*allocationsSoFar(), before);
}

TEST(PolicySettings, AreThoseOfThePlan) {
  const PolicyLossSettings plain = policyLossSettings({});
  EXPECT_EQ(plain.objective, Objective::PpoClip);
  EXPECT_FALSE(plain.dualClip.has_value());
  EXPECT_FALSE(plain.kl.has_value());
  EXPECT_EQ(plain.offPolicy.correction, Correction::None);
  EXPECT_EQ(plain.offPolicy.mostDrift, INFINITY);

  const PolicyLossSettings full = policyLossSettings({.objective = plan::PolicyObjective::Gspo,
                                                      .clipLow = 0.1,
                                                      .clipHigh = 0.3,
                                                      .dualClip = 4,
                                                      .klCoefficient = 0.5,
                                                      .klEstimator = plan::KlEstimator::K2,
                                                      .entropy = 0.25,
                                                      .correction = plan::Correction::IcePop,
                                                      .correctionLow = 0.4,
                                                      .correctionHigh = 5});
  EXPECT_EQ(full.objective, Objective::Gspo);
  EXPECT_EQ(full.clipLow, 0.1);
  EXPECT_EQ(full.clipHigh, 0.3);
  EXPECT_EQ(full.dualClip, 4);
  EXPECT_EQ(full.kl->estimator, KlEstimator::K2);
  EXPECT_EQ(full.kl->coefficient, 0.5);
  EXPECT_EQ(full.entropy, 0.25);
  EXPECT_EQ(full.offPolicy.correction, Correction::IcePop);
  EXPECT_EQ(full.offPolicy.low, 0.4);
  EXPECT_EQ(full.offPolicy.high, 5);

  const auto objective = [](plan::PolicyObjective of) {
    return policyLossSettings({.objective = of}).objective;
  };
  EXPECT_EQ(objective(plan::PolicyObjective::Cispo), Objective::Cispo);
  EXPECT_EQ(objective(plan::PolicyObjective::Reinforce), Objective::Reinforce);
  const auto estimator = [](plan::KlEstimator of) {
    return policyLossSettings({.klCoefficient = 1, .klEstimator = of}).kl->estimator;
  };
  EXPECT_EQ(estimator(plan::KlEstimator::K1), KlEstimator::K1);
  EXPECT_EQ(estimator(plan::KlEstimator::K3), KlEstimator::K3);
  EXPECT_EQ(policyLossSettings({.correction = plan::Correction::Truncated}).offPolicy.correction,
            Correction::Truncated);
}

} // namespace
} // namespace vime
