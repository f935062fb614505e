// Advantages: examples that can be computed by hand.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Policy/GroupAdvantage.h"
#include "runtime/Policy/TokenAdvantage.h"
#include "runtime/Policy/Whitening.h"

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<double>;
using Counts = std::vector<std::uint32_t>;
using Mask = std::vector<std::uint8_t>;

Numbers compared(GroupBaseline baseline, const Counts &groups, const Numbers &rewards) {
  Numbers advantages(rewards.size(), 99);
  const Status status = groupAdvantages(baseline, groups, rewards, advantages);
  EXPECT_TRUE(status.ok()) << status.message();
  return advantages;
}

TEST(GroupAdvantage, ComparesWithTheGroup) {
  const Counts groups = {4, 9, 4, 9, 4};
  const Numbers rewards = {1, 2, 4, 6, 1};
  EXPECT_THAT(compared(GroupBaseline::Mean, groups, rewards), ElementsAre(-1, -2, 2, 2, -1));
  EXPECT_THAT(compared(GroupBaseline::LeaveOneOut, groups, rewards),
              ElementsAre(-1.5, -4, 3, 4, -1.5));
  const double three = std::sqrt(3.0) + 1e-6, two = std::sqrt(8.0) + 1e-6; // over n - 1
  EXPECT_THAT(compared(GroupBaseline::MeanAndDeviation, groups, rewards),
              ElementsAre(-1 / three, -2 / two, 2 / three, 2 / two, -1 / three));
}

TEST(GroupAdvantage, OfEqualRewardsIsExactlyZero) {
  const Counts groups(7, 0);
  const Numbers rewards(7, 0.1); // 7 · 0.1 / 7 is not 0.1
  for (const auto baseline :
       {GroupBaseline::Mean, GroupBaseline::MeanAndDeviation, GroupBaseline::LeaveOneOut})
    EXPECT_EQ(compared(baseline, groups, rewards), Numbers(7, 0.0));
}

TEST(GroupAdvantage, NamesGroupsThatTeachNothing) {
  EXPECT_THAT(groupsWithoutVariance(Counts{5, 3, 5, 3, 1}, Numbers{1, 2, 1, 3, 0}),
              ElementsAre(1, 5));
}

TEST(GroupAdvantage, DoesNotDependOnTheOrderOfAnswers) {
  std::mt19937 random(11);
  Counts groups, places;
  Numbers rewards;
  for (std::uint32_t place = 0; place < 60; ++place) {
    groups.push_back(place % 7);
    rewards.push_back(double(random()) / 7e5);
    places.push_back(place);
  }
  std::shuffle(places.begin(), places.end(), random);
  Counts otherGroups;
  Numbers otherRewards;
  for (const std::uint32_t place : places) {
    otherGroups.push_back(groups[place]);
    otherRewards.push_back(rewards[place]);
  }
  for (const auto baseline :
       {GroupBaseline::Mean, GroupBaseline::MeanAndDeviation, GroupBaseline::LeaveOneOut}) {
    const Numbers found = compared(baseline, groups, rewards);
    const Numbers shuffled = compared(baseline, otherGroups, otherRewards);
    for (std::size_t at = 0; at < places.size(); ++at)
      EXPECT_EQ(shuffled[at], found[places[at]]);
  }
}

TEST(GroupAdvantage, RefusesWhatCannotBeCompared) {
  Numbers advantages(3);
  EXPECT_EQ(
      groupAdvantages(GroupBaseline::Mean, Counts{1, 1, 2}, Numbers{1, 2, 3}, advantages).message(),
      "group 2 has one reward, and nothing to compare it with");
  EXPECT_EQ(groupAdvantages(GroupBaseline::Mean, Counts{1, 1, 1}, Numbers{1, NAN, 3}, advantages)
                .message(),
            "reward 1 of group 1 is not finite");
  EXPECT_EQ(
      groupAdvantages(GroupBaseline::Mean, Counts{1, 1, 1}, Numbers{1, 3}, advantages).message(),
      "rewards has 2 numbers, expected 3");
}

/// Two sequences; the first has an answer of an environment in its middle.
const Counts kBegins = {0, 4, 6};
const Mask kMask = {1, 0, 1, 0, 1, 1};
const Sequences kSequences = {kBegins, kMask};

TEST(TokenAdvantage, SpreadsAndPlacesRewards) {
  Numbers tokens(6);
  ASSERT_TRUE(spreadOverTokens(kSequences, Numbers{2, 3}, tokens).ok());
  EXPECT_THAT(tokens, ElementsAre(2, 0, 2, 0, 3, 3));
  ASSERT_TRUE(putOnLastToken(kSequences, Numbers{2, 3}, tokens).ok());
  EXPECT_THAT(tokens, ElementsAre(0, 0, 2, 0, 0, 3));
}

TEST(TokenAdvantage, SubtractsKl) {
  Numbers tokens = {0, 0, 2, 0, 0, 3};
  ASSERT_TRUE(subtractKl(kSequences, KlEstimator::K1, 0.5, Numbers{-1, -1, -1, -1, -1, -2},
                         Numbers{-3, -3, -1, -3, -2, -4}, tokens)
                  .ok());
  EXPECT_THAT(tokens, ElementsAre(-1, 0, 2, 0, -0.5, 2));
}

TEST(TokenAdvantage, DiscountsOverStepsOfThePolicy) {
  Numbers tokens = {1, 50, 4, 50, 0, 8};
  ASSERT_TRUE(discountReturns(kSequences, 0.5, tokens, tokens).ok());
  EXPECT_THAT(tokens, ElementsAre(3, 0, 4, 0, 4, 8));
}

TEST(TokenAdvantage, EstimatesByTheCritic) {
  Numbers advantages(6), returns(6);
  ASSERT_TRUE(generalisedAdvantages(kSequences, {.discount = 0.5, .decay = 0.5},
                                    Numbers{0, 9, 4, 9, 1, 2}, Numbers{1, 70, 2, 70, 3, 4},
                                    advantages, returns)
                  .ok());
  // 4 - 2 = 2; 0 + 0.5·2 - 1 + 0.25·2 = 0.5; 2 - 4 = -2; 1 + 0.5·4 - 3 + 0.25·-2 = -0.5
  EXPECT_THAT(advantages, ElementsAre(0.5, 0, 2, 0, -0.5, -2));
  EXPECT_THAT(returns, ElementsAre(1.5, 0, 4, 0, 2.5, 2));
}

TEST(TokenAdvantage, RefusesWhatHasNoPlace) {
  const Mask none = {1, 0, 1, 0, 0, 0};
  Numbers tokens(6);
  EXPECT_EQ(putOnLastToken({kBegins, none}, Numbers{2, 3}, tokens).message(),
            "sequence 1 has a reward and no token with mask 1");
  EXPECT_EQ(putOnLastToken(kSequences, Numbers{2}, tokens).message(),
            "rewards has 1 numbers, expected 2");
  EXPECT_EQ(discountReturns(kSequences, 1, Numbers(5), tokens).message(),
            "rewards has 5 numbers, expected 6");
  EXPECT_THAT(discountReturns({Counts{1, 6}, kMask}, 1, tokens, tokens).message(),
              HasSubstr("sequences do not lie one behind the other"));
  EXPECT_EQ(discountReturns({Counts{0, 7}, kMask}, 1, tokens, tokens).message(),
            "mask has 6 numbers, expected 7");
}

TEST(Whitening, HasMeanZeroAndVarianceOne) {
  const Mask mask = {1, 1, 0, 1};
  Numbers advantages = {1, 2, 77, 3};
  Whitening whitening;
  whitening.addNumbers(mask, advantages);
  whitening.takeMean();
  whitening.addSquares(mask, advantages);
  whitening.apply(mask, advantages);
  const double scale = std::sqrt(1 + 1e-8);
  EXPECT_THAT(advantages, ElementsAre(-1 / scale, 0, 77, 1 / scale));
}

TEST(Whitening, HasTheSameBitsForEveryPacking) {
  std::mt19937 random(5);
  Numbers advantages(500);
  for (double &advantage : advantages)
    advantage = double(random()) / 3e8 - 7;
  const Mask all(advantages.size(), 1);
  Whitening whole;
  whole.addNumbers(all, advantages);
  whole.takeMean();
  whole.addSquares(all, advantages);

  Whitening parts[3];
  const auto part = [&](std::size_t at) { return std::span(advantages).subspan(at, 1); };
  const auto one = std::span(all).first(1);
  for (std::size_t at = advantages.size(); at-- > 0;)
    parts[random() % 3].addNumbers(one, part(at));
  Whitening merged;
  for (const Whitening &member : parts) {
    merged.numbers.add(member.numbers);
    merged.tokens += member.tokens;
  }
  merged.takeMean();
  EXPECT_EQ(merged.mean, whole.mean);
  for (Whitening &member : parts)
    member.mean = merged.mean;
  for (std::size_t at = 0; at < advantages.size(); ++at)
    parts[random() % 3].addSquares(one, part(at));
  for (const Whitening &member : parts)
    merged.squares.add(member.squares);
  Numbers expected = advantages, found = advantages;
  whole.apply(all, expected);
  merged.apply(all, found);
  EXPECT_EQ(found, expected);
}

} // namespace
} // namespace vime
