// PolicyLoss and ValueLoss: examples that can be computed by hand, and what is refused.
#include <cmath>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Policy/PolicyLoss.h"
#include "runtime/Policy/ValueLoss.h"

namespace vime {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pointwise;
using Numbers = std::vector<double>;

const std::vector<std::uint32_t> kBegins = {0, 2, 4};
const std::vector<std::uint8_t> kMask = {1, 1, 1, 0};
const Sequences kSequences = {kBegins, kMask};
const Numbers kOnes = {1, 1};

/// Of a loss: everything it gives.
struct Made {
  Status status;
  Numbers byLogProbability = Numbers(4, 99), byEntropy = Numbers(4, 99);
  PolicyLossSums sums;
};

/// The fourth token has mask 0.
struct Given {
  Numbers logProbabilities, old, advantages, sampled = {}, reference = {}, entropies = {};
};

Made lossOf(const PolicyLossSettings &settings, const Given &given) {
  Made made;
  made.status = policyLoss(settings,
                           {.sequences = kSequences,
                            .logProbabilities = given.logProbabilities,
                            .old = given.old,
                            .sampled = given.sampled,
                            .reference = given.reference,
                            .entropies = given.entropies,
                            .advantages = given.advantages,
                            .denominators = kOnes},
                           {made.byLogProbability, made.byEntropy}, made.sums);
  return made;
}

Numbers logs(const Numbers &ratios) {
  Numbers result;
  for (const double ratio : ratios)
    result.push_back(std::log(ratio));
  return result;
}

TEST(PolicyLoss, ClipsOnTheSideThatWouldGoFarther) {
  const PolicyLossSettings settings{.clipLow = 0.25, .clipHigh = 0.5};
  const Numbers zeros(4, 0.0);
  // Above with A > 0 and below with A < 0 there is no slope; the other way round there is.
  Made made = lossOf(settings, {logs({2, 0.5, 1.25, 9}), zeros, {1, -2, 4, 7}});
  ASSERT_TRUE(made.status.ok()) << made.status.message();
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{0, 0, -5, 0}));
  EXPECT_DOUBLE_EQ(made.sums.loss.value(), -1.5 + 1.5 - 5);
  EXPECT_EQ(made.sums.clipped, 2u);
  EXPECT_EQ(made.sums.tokens, 3u);
  made = lossOf(settings, {logs({2, 0.5, 4, 9}), zeros, {-1, 2, -1, 7}});
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{2, -1, 4, 0}));
  EXPECT_EQ(made.sums.clipped, 0u);
}

TEST(PolicyLoss, DualClipBoundsTheLossOfBadTokens) {
  const Made made = lossOf({.dualClip = 3}, {logs({4, 2, 4, 1}), Numbers(4, 0.0), {-2, -2, 0, 1}});
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{0, 4, 0, 0}));
  EXPECT_DOUBLE_EQ(made.sums.loss.value(), 6 + 4);
}

TEST(PolicyLoss, GspoClipsSequences) {
  // Ratios 4 and 1/2 have the geometric mean sqrt(2); 1/2 alone is clipped as A < 0.
  const Made made = lossOf({.objective = Objective::Gspo, .clipHigh = 0.5},
                           {logs({4, 0.5, 0.5, 1}), Numbers(4, 0.0), {1, 1, -1, 1}});
  const double slope = -std::sqrt(2.0);
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{slope, slope, 0, 0}));
  EXPECT_DOUBLE_EQ(made.sums.loss.value(), -2 * std::sqrt(2.0) + 0.8);
  EXPECT_EQ(made.sums.clipped, 1u);
}

TEST(PolicyLoss, CispoKeepsTheSlopeOfClippedTokens) {
  const Made made = lossOf({.objective = Objective::Cispo, .clipLow = 1, .clipHigh = 1},
                           {{-1, -2, -3, -1}, {-1, -2 - std::log(4), -3, -1}, {1, 2, -1, 5}});
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{-1, -4, 1, 0}));
  EXPECT_DOUBLE_EQ(made.sums.loss.value(), 1 + 8 - 3);
  EXPECT_EQ(made.sums.clipped, 1u);
}

TEST(PolicyLoss, CorrectsForTheSampler) {
  // Of the sampler's ratios 1.5, 4 and 0.25, the trainer's old probability over the engine's.
  const Given given{{-1, -1, -1, -1},
                    {-1, -1, -1, -1},
                    {1, 1, 1, 1},
                    {-1 - std::log(1.5), -1 - std::log(4), -1 - std::log(0.25), -1}};
  Made made = lossOf({.offPolicy = {.correction = Correction::Truncated}}, given);
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{-1.5, -2, -0.25, 0}));
  EXPECT_DOUBLE_EQ(made.sums.weight.value(), 3.75);
  EXPECT_EQ(made.sums.corrected, 1u);
  made = lossOf({.offPolicy = {.correction = Correction::IcePop, .low = 0.5}}, given);
  EXPECT_THAT(made.byLogProbability, Pointwise(DoubleEq(), Numbers{-1.5, 0, 0, 0}));
  EXPECT_EQ(made.sums.corrected, 2u);
}

TEST(PolicyLoss, LeavesOutBadTokensOfSequencesThatMoved) {
  const Made made = lossOf({.clipLow = 0.9, .offPolicy = {.mostDrift = 0.1}},
                           {{-1.5, -1, -1, -1}, {-1, -1, -1, -1}, {-1, 1, -1, -1}});
  EXPECT_EQ(made.sums.leftOut, 1u);
  EXPECT_THAT(made.byLogProbability, ElementsAre(0, -1, 1, 0));
}

TEST(PolicyLoss, OfAFirstStepHasRatioOneAndNoKl) {
  const Numbers now = {-0.1, -2.7, -13.3, -1};
  for (const auto estimator : {KlEstimator::K1, KlEstimator::K2, KlEstimator::K3})
    for (const auto objective : {Objective::PpoClip, Objective::Gspo, Objective::Cispo}) {
      const Made made = lossOf(
          {.objective = objective, .kl = KlTerm{estimator, 0.5}},
          {.logProbabilities = now, .old = now, .advantages = {1, 1, 1, 1}, .reference = now});
      ASSERT_TRUE(made.status.ok());
      EXPECT_EQ(made.sums.ratio.value(), 3);
      EXPECT_EQ(made.sums.drift.value(), 0);
      EXPECT_EQ(made.sums.kl.value(), 0);
      EXPECT_EQ(made.sums.clipped, 0u);
    }
}

TEST(PolicyLoss, AddsKlAndEntropy) {
  const Made made = lossOf(
      {.objective = Objective::Likelihood, .kl = KlTerm{KlEstimator::K2, 0.5}, .entropy = 0.25},
      {.logProbabilities = {-1, -2, -3, -4},
       .old = {},
       .advantages = {},
       .reference = {-3, -2, -4, -9},
       .entropies = {4, 8, 0, 5}});
  ASSERT_TRUE(made.status.ok()) << made.status.message();
  EXPECT_THAT(made.byLogProbability, ElementsAre(0, -1, -0.5, 0));
  EXPECT_THAT(made.byEntropy, ElementsAre(-0.25, -0.25, -0.25, 0));
  EXPECT_EQ(made.sums.loss.value(), 1 + 2 + 3 + 0.5 * (2 + 0 + 0.5) - 0.25 * 12);
}

TEST(KlEstimate, OfK3EndsAtItsMost) {
  EXPECT_EQ(klEstimate(KlEstimator::K3, -800).value, kMostKl);
  EXPECT_EQ(klEstimate(KlEstimator::K3, -800).slope, 0);
  EXPECT_DOUBLE_EQ(klEstimate(KlEstimator::K3, std::log(2)).value, 0.5 - 1 + std::log(2));
}

TEST(PolicyLoss, RefusesWhatItCannotCompute) {
  const Given given{Numbers(4, -1.0), Numbers(4, -1.0), Numbers(4, 1.0)};
  const auto message = [&](
                           const PolicyLossSettings &settings,
                           const std::function<void(Given &)> &change = [](Given &) {}) {
    Given changed = given;
    change(changed);
    return lossOf(settings, changed).status.message();
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.clipLow = -1}), "clip is -1 and 0.2, one of them below 0");
  EXPECT_EQ(message({.dualClip = 1}), "dual clip is 1, not more than 1");
  EXPECT_EQ(message({.offPolicy = {.low = 3, .high = 2}}), "off-policy weights are from 3 to 2");
  EXPECT_EQ(message({.entropy = 1}), "entropies has 0 numbers, expected 4");
  EXPECT_EQ(message({.kl = KlTerm{}}), "reference has 0 numbers, expected 4");
  EXPECT_EQ(message({}, [](Given &it) { it.old.pop_back(); }),
            "old log-probabilities has 3 numbers, expected 4");
  EXPECT_EQ(message({}, [](Given &it) { it.logProbabilities[2] = NAN; }),
            "loss of token 0 of sequence 1 is not finite");
  EXPECT_EQ(message({}, [](Given &it) { it.logProbabilities[3] = NAN; }), ""); // mask 0
}

TEST(ValueLoss, TakesTheLargerOfTwoErrors) {
  const Numbers values = {1, 2, 3, 4}, old = {1, 1, 3.25, 4}, returns = {2, 2.5, 1, 9};
  Numbers gradient(4, 99);
  ValueLossSums sums;
  const Numbers denominators = {2, 4};
  ASSERT_TRUE(
      valueLoss({.clip = 0.5}, {kSequences, values, old, returns, denominators}, gradient, sums)
          .ok());
  // Errors -1; -0.5 or, at 1.5, -1; 2.
  EXPECT_THAT(gradient, ElementsAre(-1, 0, 1, 0));
  EXPECT_EQ(sums.loss.value(), 0.5 + 0.5 + 1);
  EXPECT_EQ(sums.clipped, 1u);
  EXPECT_EQ(sums.tokens, 3u);
  EXPECT_EQ(
      valueLoss({.clip = -1}, {kSequences, values, old, returns, denominators}, gradient, sums)
          .message(),
      "value clip is -1, below 0");
  EXPECT_EQ(
      valueLoss({}, {kSequences, values, old, Numbers(3), denominators}, gradient, sums).message(),
      "returns has 3 numbers, expected 4");
}

} // namespace
} // namespace vime
