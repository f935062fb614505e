// RoundPlan: nothing lost, nothing over its room, replicas alike; and what is refused.
#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Data/BalancedPacking.h"
#include "runtime/Data/RoundPlan.h"

namespace vime {
namespace {

using Samples = std::vector<RoundSample>;

std::string refusal(const Samples &samples, const RoundShape &shape) {
  const auto steps = planRound(samples, shape);
  return steps.ok() ? "" : steps.status().message();
}

/// One line a step, replicas divided by `|`, microbatches in brackets.
std::string picture(const Samples &samples, const RoundShape &shape) {
  const auto steps = planRound(samples, shape);
  if (!steps.ok())
    return steps.status().message();
  std::string text;
  for (const RoundStep &step : *steps) {
    text += "\n";
    for (const auto &microbatches : step.replicas) {
      text += &microbatches == &step.replicas.front() ? "" : "| ";
      for (const PlannedMicrobatch &microbatch : microbatches) {
        text += "[";
        for (const std::uint32_t place : microbatch)
          text += (text.back() == '[' ? "" : " ") + std::to_string(place);
        text += "] ";
      }
    }
  }
  return text;
}

/// Rollout 8 fanned out into two samples, of which the second comes late.
const Samples kSamples = {{7, 100}, {8, 60}, {9, 20}, {8, 60}, {5, 90}, {4, 128}};

TEST(RoundPlan, FirstFitKeepsTheOrder) {
  EXPECT_EQ(picture(kSamples, {.rollouts = 2,
                               .last = LastStep::Short,
                               .replicas = 2,
                               .room = {.tokens = 128, .samples = 4}}),
            "\n[0] | [1 3] \n[2 4] | [] \n[5] | [] ");
}

TEST(RoundPlan, PadsToTheGroup) {
  EXPECT_EQ(
      picture(kSamples,
              {.rollouts = 5, .replicas = 2, .group = 3, .room = {.tokens = 128, .samples = 4}}),
      "\n[0 2] [1 3] [] | [4] [5] [] ");
}

TEST(RoundPlan, BalancedSpreadsWhatIsCostly) {
  // By squares 128 and 100 stand alone, 90 with 20, 60 with 60.
  EXPECT_EQ(picture(kSamples, {.rollouts = 5,
                               .replicas = 2,
                               .room = {.tokens = 128, .samples = 4},
                               .rule = PackingRule::Balanced,
                               .cost = {.linear = 0, .quadratic = 1}}),
            "\n[5] [1 3] | [0] [2 4] ");
}

TEST(RoundPlan, RefusesInsteadOfDropping) {
  const RoundShape shape{.rollouts = 5, .room = {.tokens = 128, .samples = 4}};
  const auto with = [&](auto change) {
    RoundShape changed = shape;
    change(changed);
    return refusal(kSamples, changed);
  };
  EXPECT_EQ(refusal(kSamples, shape), "");
  EXPECT_EQ(refusal({}, shape), "a round has no samples");
  EXPECT_EQ(refusal({{1, 0}}, shape), "sample 0 has no tokens");
  EXPECT_EQ(with([](RoundShape &it) { it.room.tokens = 127; }),
            "sample 5 has 128 tokens, a microbatch has room for 127");
  EXPECT_EQ(with([](RoundShape &it) { it.rollouts = 2; }),
            "a round of 5 rollouts is no whole number of steps of 2");
  EXPECT_EQ(with([](RoundShape &it) { it.rollouts = 8; }),
            "a round of 5 rollouts is no whole number of steps of 8");
  EXPECT_EQ(with([](RoundShape &it) { it.most = 3; }),
            "step 0 needs 4 microbatches a replica, there is room for 3");
  EXPECT_EQ(with([](RoundShape &it) { it.replicas = 0; }), "replicas: 0, expected at least 1");
  EXPECT_EQ(with([](RoundShape &it) { it.replicas = it.group = 1u << 16; }),
            "65536 replicas with groups of 65536 microbatches are more than 1048576 microbatches");
  EXPECT_EQ(with([](RoundShape &it) { it.cost.linear = -1; }),
            "cost of a sample is -1 and 0, one of them below 0");
}

void judge(const Samples &samples, const RoundShape &shape, const std::vector<RoundStep> &steps) {
  std::vector<int> uses(samples.size());
  std::set<std::uint32_t> earlier;
  for (const RoundStep &step : steps) {
    std::set<std::uint32_t> rollouts;
    ASSERT_EQ(step.replicas.size(), shape.replicas);
    for (const auto &microbatches : step.replicas) {
      EXPECT_EQ(microbatches.size(), step.replicas.front().size());
      EXPECT_EQ(microbatches.size() % shape.group, 0u);
      EXPECT_GE(microbatches.size(), 1u);
      EXPECT_TRUE(std::is_partitioned(microbatches.begin(), microbatches.end(),
                                      [](const auto &it) { return !it.empty(); }));
      for (const PlannedMicrobatch &microbatch : microbatches) {
        std::uint64_t tokens = 0;
        for (const std::uint32_t place : microbatch) {
          tokens += samples[place].tokens;
          ++uses[place];
          rollouts.insert(samples[place].rollout);
        }
        EXPECT_LE(tokens, shape.room.tokens);
        EXPECT_LE(microbatch.size(), shape.room.samples);
        EXPECT_TRUE(std::is_sorted(microbatch.begin(), microbatch.end()));
      }
    }
    EXPECT_EQ(rollouts.size(), step.rollouts);
    EXPECT_TRUE(step.rollouts == shape.rollouts || &step == &steps.back());
    for (const std::uint32_t rollout : rollouts)
      EXPECT_TRUE(earlier.insert(rollout).second) << "rollout " << rollout << " is in two steps";
  }
  EXPECT_THAT(uses, testing::Each(1));
}

TEST(RoundPlan, LosesNothingAndKeepsItsBounds) {
  std::mt19937 random(17);
  const auto below = [&](std::uint32_t end) { return std::uint32_t(random() % end); };
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const RoundShape shape{.rollouts = 1 + below(12),
                           .last = LastStep::Short,
                           .replicas = 1 + below(4),
                           .group = 1 + below(3),
                           .room = {.tokens = 1 + below(200), .samples = 1 + below(6)},
                           .rule = below(2) == 0 ? PackingRule::FirstFit : PackingRule::Balanced,
                           .cost = {.linear = double(below(3)), .quadratic = double(below(2))}};
    Samples samples(1 + below(60));
    for (RoundSample &sample : samples)
      sample = {below(40), 1 + below(shape.room.tokens)};
    const auto steps = planRound(samples, shape);
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    judge(samples, shape, *steps);
  }
}

TEST(BalancedShares, AreEvenInNumberAndNearlyInCost) {
  EXPECT_EQ(balancedShares(std::vector<double>{9, 1, 8, 2}, 2),
            (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}}));
}

} // namespace
} // namespace vime
