#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Reward/FinalAnswer.h"
#include "runtime/Reward/Pattern.h"
#include "tests/reward/AskedRewards.h"

namespace vime {
namespace {

using plan::RewardKind;
using testing::HasSubstr;

TEST(FinalAnswer, BehindTheLastMarkerOrAllOfIt) {
  EXPECT_EQ(finalAnswer(" 42\n"), "42");
  EXPECT_EQ(finalAnswer("6 times 7\n#### 42 \nor so"), "42");
  EXPECT_EQ(finalAnswer("#### 1\n#### 2"), "2");
  EXPECT_EQ(finalAnswer("so \\boxed{\\frac{1}{2}}."), "\\frac{1}{2}");
  EXPECT_EQ(finalAnswer("\\boxed{1} no, \\boxed{ 2 }"), "2");
  EXPECT_EQ(finalAnswer("#### 1 then \\boxed{2}"), "2");
  EXPECT_EQ(finalAnswer("\\boxed{1} then #### 2"), "2");
  EXPECT_EQ(finalAnswer("#### 1 \\boxed{2"), "1 \\boxed{2");
  EXPECT_EQ(finalAnswer("####"), "");
  EXPECT_EQ(finalAnswer(""), "");
}

TEST(LastNumber, AsItIsWritten) {
  EXPECT_EQ(lastNumber("1, 2 and 3."), "3");
  EXPECT_EQ(lastNumber("it costs $1,234.50."), "1234.50");
  EXPECT_EQ(lastNumber("1,234,567"), "1234567");
  EXPECT_EQ(lastNumber("12,34"), "34");
  EXPECT_EQ(lastNumber("1,2345"), "2345");
  EXPECT_EQ(lastNumber("5-3"), "3");
  EXPECT_EQ(lastNumber("x = -3"), "-3");
  EXPECT_EQ(lastNumber("-3"), "-3");
  EXPECT_EQ(lastNumber("(1)-3"), "3");
  EXPECT_EQ(lastNumber(".5"), "0.5");
  EXPECT_EQ(lastNumber("1e-3x"), "1e-3");
  EXPECT_EQ(lastNumber("3 eggs"), "3");
  EXPECT_EQ(lastNumber("3e"), "3");
  EXPECT_EQ(lastNumber("none"), std::nullopt);
}

TEST(SameNumber, WholeOnesExactlyOthersNearly) {
  EXPECT_TRUE(sameNumber("007", "7"));
  EXPECT_TRUE(sameNumber("-0", "0"));
  EXPECT_FALSE(sameNumber("12345678", "12345679"));
  EXPECT_FALSE(sameNumber("3", "-3"));
  EXPECT_TRUE(sameNumber("3.0", "3"));
  EXPECT_TRUE(sameNumber("0.3333333", "0.33333333"));
  EXPECT_FALSE(sameNumber("0.33", "0.34"));
  EXPECT_FALSE(sameNumber("1e999", "1"));
  EXPECT_TRUE(sameNumber("123456789012345678901234567890", "123456789012345678901234567890"));
}

TEST(Pattern, IsLinearInTheText) {
  const auto pattern = Pattern::make("(a*)*b"); // what back-tracking would never finish
  ASSERT_TRUE(pattern.ok());
  EXPECT_FALSE(pattern->isIn(std::string(100000, 'a')));
  EXPECT_THAT(Pattern::make("(a").status().message(), HasSubstr("cannot be read: missing )"));
  EXPECT_FALSE(Pattern::make("(a)\\1").ok());
}

std::vector<double> scored(RewardKind kind, const std::string &pattern, const std::string &answer,
                           std::vector<std::string> responses) {
  auto reward = makeReward({.kind = kind, .what = pattern}, "");
  EXPECT_TRUE(reward.ok()) << reward.status().message();
  AskedRewards asked(std::move(responses));
  for (RewardRequest &request : asked.requests)
    request.answer = answer;
  const auto scores = (*reward)->score(asked.requests);
  EXPECT_TRUE(scores.ok()) << scores.status().message();
  return scores.ok() ? *scores : std::vector<double>();
}

using Scores = std::vector<double>;

TEST(RuleReward, ExactAnswer) {
  EXPECT_EQ(scored(RewardKind::ExactAnswer, "", "19\n", {"19", " 19 ", "is 19", "#### 19", ""}),
            (Scores{1, 1, 0, 1, 0}));
  EXPECT_EQ(scored(RewardKind::ExactAnswer, "", "why\n#### 19", {"19", "\\boxed{19}", "why"}),
            (Scores{1, 1, 0}));
}

TEST(RuleReward, Numeric) {
  EXPECT_EQ(
      scored(RewardKind::Numeric, "", "#### 1,200", {"is 1200.", "1200.0", "12", "", "1200 x"}),
      (Scores{1, 1, 0, 0, 1}));
}

TEST(RuleReward, RegexAndFormat) {
  const std::vector<std::string> responses = {"<a>\nb</a>", "x<a>b</a>", "<a>", "\xFF"};
  EXPECT_EQ(scored(RewardKind::Regex, "<a>.*</a>", "", responses), (Scores{1, 1, 0, 0}));
  EXPECT_EQ(scored(RewardKind::Format, "<a>.*</a>", "", responses), (Scores{1, 0, 0, 0}));
  EXPECT_EQ(scored(RewardKind::Format, ".", "", {"\xFF", "\xC3\xA9", "ab"}), (Scores{1, 1, 0}));
}

TEST(RuleReward, WhatCannotBeScoredIsAnError) {
  const auto complaint = [](RewardKind kind, const std::string &what,
                            const RewardRequest &request) -> std::string {
    auto reward = makeReward({.kind = kind, .what = what}, "");
    if (!reward.ok())
      return reward.status().message();
    const auto scores = (*reward)->score(std::span(&request, 1));
    return scores.ok() ? "none" : scores.status().message();
  };
  const RewardRequest bare{.draw = 7, .sample = 2, .response = "1"};
  EXPECT_EQ(complaint(RewardKind::ExactAnswer, "", bare),
            "no reward for sample 2 of draw 7: its prompt has no answer to compare with");
  EXPECT_THAT(complaint(RewardKind::ExactAnswer, "", {.draw = plan::kFirstEvaluationDraw + 3}),
              HasSubstr("sample 0 of draw 3 of an evaluation"));
  EXPECT_THAT(complaint(RewardKind::Numeric, "", {.answer = "one"}), HasSubstr("has no number"));
  EXPECT_THAT(complaint(RewardKind::Regex, "1", {.isText = false}), HasSubstr("no text"));
  EXPECT_THAT(complaint(RewardKind::Regex, "", bare), HasSubstr("empty pattern"));
  EXPECT_THAT(complaint(RewardKind::Format, "[", bare), HasSubstr("missing ]"));
  EXPECT_THAT(complaint(RewardKind::Numeric, "1", bare), HasSubstr("takes no pattern"));
}

TEST(RuleReward, Cancelled) {
  auto reward = makeReward({.kind = RewardKind::ExactAnswer}, "");
  (*reward)->cancel();
  EXPECT_EQ((*reward)->score(AskedRewards::ofLengths(1).requests).status().code(),
            StatusCode::Interrupted);
}

} // namespace
} // namespace vime
