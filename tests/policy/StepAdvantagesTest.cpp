// Advantages with the KL in the reward: by hand, and the same bits for every packing.
#include "runtime/Policy/StepAdvantages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace vime {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using Numbers = std::vector<double>;

/// What a step is made of: sequences one behind the other, cut into microbatches in between.
struct Step {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint8_t> mask;
  Numbers old, reference, advantages;
};

Numbers run(StepAdvantageSettings settings, Step step, std::size_t sequencesOfMicrobatch) {
  std::vector<std::vector<std::uint32_t>> begins;
  std::vector<MicrobatchAdvantages> microbatches;
  std::size_t token = 0;
  for (std::size_t first = 0; first < step.lengths.size(); first += sequencesOfMicrobatch) {
    std::vector<std::uint32_t> &own = begins.emplace_back(1, 0u);
    const std::size_t end = std::min(first + sequencesOfMicrobatch, step.lengths.size());
    for (std::size_t sequence = first; sequence < end; ++sequence)
      own.push_back(own.back() + step.lengths[sequence]);
    token += own.back();
  }
  token = 0;
  for (const auto &own : begins) {
    const std::size_t count = own.back();
    microbatches.push_back({.sequences = {own, std::span(step.mask).subspan(token, count)},
                            .old = std::span(step.old).subspan(token, count),
                            .reference = std::span(step.reference).subspan(token, count),
                            .advantages = std::span(step.advantages).subspan(token, count)});
    token += count;
  }
  StepAdvantages advantages(settings);
  for (const MicrobatchAdvantages &one : microbatches)
    EXPECT_TRUE(advantages.lessen(one).ok());
  advantages.takeMean();
  for (const MicrobatchAdvantages &one : microbatches)
    advantages.addSquares(one);
  for (const MicrobatchAdvantages &one : microbatches)
    advantages.whiten(one);
  return step.advantages;
}

// One sequence of a prompt and three tokens with reward 1, KL 0.5, 0.25 and 0 by k1, of which a
// half counts: rewards -0.25, -0.125 and 1, returns 0.625, 0.875 and 1.
TEST(StepAdvantages, AreReturnsOfWhatIsLeftOfTheReward) {
  const Numbers found = run({.discounts = true, .coefficient = 0.5},
                            {.lengths = {4},
                             .mask = {0, 1, 1, 1},
                             .old = {0, -1, -2, -3},
                             .reference = {0, -1.5, -2.25, -3},
                             .advantages = {7, 1, 1, 1}},
                            1);
  const double mean = 2.5 / 3;
  const double variance =
      (std::pow(0.625 - mean, 2) + std::pow(0.875 - mean, 2) + std::pow(1 - mean, 2)) / 2;
  const double scale = std::sqrt(variance + 1e-8);
  EXPECT_THAT(found, ElementsAre(0, DoubleNear((0.625 - mean) / scale, 1e-12),
                                 DoubleNear((0.875 - mean) / scale, 1e-12),
                                 DoubleNear((1 - mean) / scale, 1e-12)));
}

// With a baseline every token has its sequence's number, less its own KL.
TEST(StepAdvantages, OfABaselineLessenEachTokenAlone) {
  const Numbers found = run({.discounts = false, .coefficient = 1},
                            {.lengths = {2, 2},
                             .mask = {1, 1, 1, 1},
                             .old = {-1, -1, -1, -1},
                             .reference = {-1, -2, -1, -1},
                             .advantages = {0.5, 0.5, -0.5, -0.5}},
                            2);
  // 0.5, -0.5, -0.5, -0.5: of mean -0.25 and variance 0.25.
  const double scale = std::sqrt(0.25 + 1e-8);
  EXPECT_THAT(found,
              ElementsAre(DoubleNear(0.75 / scale, 1e-12), DoubleNear(-0.25 / scale, 1e-12),
                          DoubleNear(-0.25 / scale, 1e-12), DoubleNear(-0.25 / scale, 1e-12)));
}

TEST(StepAdvantages, HaveTheSameBitsForEveryPacking) {
  std::mt19937 random(11);
  Step step;
  for (int sequence = 0; sequence < 24; ++sequence) {
    step.lengths.push_back(1 + random() % 9);
    const double reward = double(random()) / 1e9;
    for (std::uint32_t token = 0; token < step.lengths.back(); ++token) {
      step.mask.push_back(random() % 4 != 0 || token + 1 == step.lengths.back());
      step.old.push_back(-double(random()) / 1e9);
      step.reference.push_back(-double(random()) / 1e9);
      step.advantages.push_back(reward);
    }
  }
  for (const bool discounts : {false, true}) {
    const StepAdvantageSettings settings{
        .discounts = discounts, .estimator = KlEstimator::K3, .coefficient = 0.1};
    const Numbers whole = run(settings, step, step.lengths.size());
    for (const std::size_t size : {1, 2, 5, 7})
      EXPECT_EQ(run(settings, step, size), whole) << discounts << " " << size;
  }
}

TEST(StepAdvantages, RefuseWhatDoesNotFit) {
  Numbers advantages(3);
  const std::vector<std::uint32_t> begins = {0, 2};
  const std::vector<std::uint8_t> mask = {1, 1, 1};
  StepAdvantages step({});
  EXPECT_FALSE(step.lessen({.sequences = {begins, mask},
                            .old = advantages,
                            .reference = advantages,
                            .advantages = advantages})
                   .ok());
}

} // namespace
} // namespace vime
