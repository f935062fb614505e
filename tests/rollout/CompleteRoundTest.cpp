#include "runtime/Rollout/CompleteRound.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Rollout/ChooseGroups.h"

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ChooseGroups, FirstOnesOrThoseWithVariance) {
  const double rewards[] = {1, 1, 0, 1, 0, 0, 1, 0};
  plan::RolloutSettings rollout{.prompts = 2, .candidates = 4, .samples = 2};
  EXPECT_THAT(chooseGroups(rollout, rewards).trained, ElementsAre(0, 1));
  EXPECT_EQ(chooseGroups(rollout, rewards).unused, 2u);
  rollout.dropsEqualRewards = true;
  const ChosenGroups chosen = chooseGroups(rollout, rewards);
  EXPECT_THAT(chosen.trained, ElementsAre(1, 3));
  EXPECT_EQ(chosen.dropped, 2u);
  EXPECT_EQ(chosen.filled, 0u);
  rollout.prompts = 3;
  EXPECT_THAT(chooseGroups(rollout, rewards).trained, ElementsAre(0, 1, 3));
  EXPECT_EQ(chooseGroups(rollout, rewards).filled, 1u);
}

class Completed : public testing::Test {
protected:
  /// Two groups of two, a step each: rewards 1, 0 and 4, 0; responses of 1, 3, 2, 2 tokens.
  void complete(plan::AdvantageRule rule, plan::LossUnit unit = plan::LossUnit::Token) {
    settings.rollout = {.steps = 2, .prompts = 2, .samples = 2, .maxPrompt = 1, .maxNew = 5};
    settings.algorithm.advantage = rule;
    settings.algorithm.unit = unit;
    round.assign(plan::roundBytes(settings), std::byte(0));
    reinterpret_cast<plan::BatchHeader *>(round.data())->count = 4;
    const double rewards[] = {1, 0, 4, 0};
    const std::uint32_t lengths[] = {1, 3, 2, 2};
    for (std::uint32_t place = 0; place < 4; ++place) {
      at(place).promptTokens = 1;
      at(place).tokens = 1 + lengths[place];
      at(place).reward = rewards[place];
    }
    const Status status = completeRound(settings, round.data());
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::uint32_t place = 0; place < 4; ++place) {
      advantages.push_back(at(place).advantage);
      denominators.push_back(at(place).denominator);
    }
  }
  plan::SampleRecord &at(std::uint32_t place) {
    return *reinterpret_cast<plan::SampleRecord *>(
        plan::recordAt(round.data(), plan::sampleStride(settings.rollout), place));
  }
  plan::RoundSettings settings;
  std::vector<std::byte> round;
  std::vector<double> advantages, denominators;
};

TEST_F(Completed, DrGrpo) {
  complete(plan::AdvantageRule::DrGrpo, plan::LossUnit::Constant);
  EXPECT_THAT(advantages, ElementsAre(0.5, -0.5, 2, -2));
  EXPECT_THAT(denominators, ElementsAre(10, 10, 10, 10)); // two rollouts, 5 tokens at most
}
TEST_F(Completed, Grpo) {
  complete(plan::AdvantageRule::Grpo);
  const double deviation = std::sqrt(0.5);
  EXPECT_DOUBLE_EQ(advantages[0], 0.5 / (deviation + 1e-6));
  EXPECT_DOUBLE_EQ(advantages[3], -2 / (std::sqrt(8.0) + 1e-6));
  EXPECT_THAT(denominators, ElementsAre(4, 4, 4, 4));
}
TEST_F(Completed, Rloo) {
  complete(plan::AdvantageRule::Rloo, plan::LossUnit::Rollout);
  EXPECT_THAT(advantages, ElementsAre(1, -1, 4, -4));
  EXPECT_THAT(denominators, ElementsAre(2, 6, 4, 4));
}
TEST_F(Completed, ReinforcePlusPlus) {
  complete(plan::AdvantageRule::ReinforcePlusPlus, plan::LossUnit::Prompt);
  // Tokens of the first step: 1, 0, 0, 0, with mean 1/4 and variance 1/4 over n - 1.
  const double scale = std::sqrt(0.25 + 1e-8);
  EXPECT_DOUBLE_EQ(advantages[0], 0.75 / scale);
  EXPECT_DOUBLE_EQ(advantages[1], -0.25 / scale);
  EXPECT_DOUBLE_EQ(advantages[2], 2 / std::sqrt(16.0 / 3 + 1e-8));
  EXPECT_THAT(denominators, ElementsAre(4, 4, 4, 4));
}
TEST_F(Completed, ReinforcePlusPlusBaseline) {
  complete(plan::AdvantageRule::ReinforcePlusPlusBaseline);
  // Tokens of the first step: 0.5 and three times -0.5.
  EXPECT_DOUBLE_EQ(advantages[0], 0.75 / std::sqrt(0.25 + 1e-8));
  EXPECT_DOUBLE_EQ(advantages[1], -0.25 / std::sqrt(0.25 + 1e-8));
}
TEST_F(Completed, GroupsOfOneHaveNothingToCompareWith) {
  settings.rollout = {.prompts = 1, .samples = 1, .maxPrompt = 1, .maxNew = 1};
  round.assign(plan::roundBytes(settings), std::byte(0));
  reinterpret_cast<plan::BatchHeader *>(round.data())->count = 1;
  EXPECT_THAT(completeRound(settings, round.data()).message(), HasSubstr("nothing to compare"));
}

} // namespace
} // namespace vime
