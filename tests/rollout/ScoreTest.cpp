#include "runtime/Rollout/Score.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Rollout/DrawPrompts.h"
#include "runtime/Rollout/GatherSamples.h"
#include "tests/rollout/MadeSamples.h"

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

double lengthOf(const RewardRequest &request) { return double(request.responseTokens.size()); }

Bytes scored(const MadeSamples &made, std::uint64_t round, const Bytes &samples) {
  FunctionReward reward(lengthOf);
  Bytes buffer = made.round();
  const auto result = scoreRound(made.source(round), reward, samples.data(), buffer.data());
  EXPECT_TRUE(result.ok()) << result.status().message();
  return buffer;
}

TEST(DrawPrompts, GoThroughTheFile) {
  const MadeSamples made;
  const Bytes batch = made.drawn(2);
  const auto &header = *reinterpret_cast<const plan::BatchHeader *>(batch.data());
  EXPECT_EQ(header.count, 5u);
  EXPECT_EQ(header.isEvaluation, 0u);
  const std::byte *at = plan::recordAt(batch.data(), plan::promptStride(made.settings.rollout), 3);
  const auto &record = *reinterpret_cast<const plan::PromptRecord *>(at);
  EXPECT_EQ(record.draw, 13u);
  EXPECT_EQ(record.prompt, promptOfDraw(11, MadeSamples::kSeed, 13));
  EXPECT_EQ(record.samples, 3u);
  const auto &tokens = made.prompts.at(record.prompt).tokens;
  EXPECT_EQ(record.tokens, tokens.size());
  EXPECT_EQ(std::memcmp(at + sizeof(record), tokens.data(), tokens.size() * 4), 0);
}

TEST(DrawPrompts, EvaluationsTakeTheFirstOnes) {
  MadeSamples made;
  const Bytes batch = made.drawnEvaluation();
  EXPECT_EQ(reinterpret_cast<const plan::BatchHeader *>(batch.data())->isEvaluation, 1u);
  const auto &record = *reinterpret_cast<const plan::PromptRecord *>(
      plan::recordAt(batch.data(), plan::promptStride(made.settings.rollout), 2));
  EXPECT_EQ(record.draw, plan::kFirstEvaluationDraw + 2);
  EXPECT_EQ(record.prompt, 2u);
  EXPECT_EQ(record.samples, 4u);
  made.settings.evaluation.count = 12;
  Bytes larger(plan::promptsBytes(made.settings));
  EXPECT_THAT(drawEvaluation(made.settings, made.prompts, larger.data()).message(),
              HasSubstr("have 11, an evaluation asks for 12"));
}

TEST(ScoreRound, DoesNotDependOnEnginesOrOrder) {
  const MadeSamples one(1), two(2), three(3);
  const Bytes expected = scored(one, 4, one.generate(one.drawn(4), 5));
  EXPECT_EQ(scored(two, 4, two.generate(two.drawn(4), 5)), expected);
  EXPECT_EQ(scored(three, 4, three.generate(three.drawn(4), 5, /*backwards=*/true)), expected);
  const auto &header = *reinterpret_cast<const plan::BatchHeader *>(expected.data());
  EXPECT_EQ(header.count, 12u);
  for (std::uint32_t place = 0; place < 12; ++place) {
    const plan::SampleRecord &record = one.trained(expected, place);
    EXPECT_EQ(record.draw, 20 + place / 3);
    EXPECT_EQ(record.sample, place % 3);
    EXPECT_EQ(record.reward, record.tokens - record.promptTokens);
  }
}

TEST(ScoreRound, HandsOutTextWithoutTheStop) {
  const MadeSamples made;
  Bytes samples = made.generate(made.drawn(0), 1), round = made.round();
  FunctionReward reward([&](const RewardRequest &request) {
    EXPECT_EQ(request.prompt, request.answer);
    EXPECT_EQ(request.response.size(),
              request.responseTokens.size() - (request.responseTokens.size() < 6 ? 1 : 0));
    return 1.0;
  });
  EXPECT_TRUE(scoreRound(made.source(0), reward, samples.data(), round.data()).ok());
}

TEST(CountResponses, NoneIsShorterThanAnEmptyOne) {
  plan::SampleRecord empty{}, longer{};
  empty.tokens = empty.promptTokens = longer.promptTokens = 3;
  longer.tokens = 8;
  const auto *first = reinterpret_cast<const std::byte *>(&empty),
             *second = reinterpret_cast<const std::byte *>(&longer);
  for (const auto &records : {std::vector{first, second}, std::vector{second, first}}) {
    const ResponseCounts counts = countResponses(records);
    EXPECT_EQ(counts.shortest, 0u);
    EXPECT_EQ(counts.longest, 5u);
    EXPECT_EQ(counts.tokens, 5u);
  }
}

TEST(ScoreRound, ReportsWhatWasGenerated) {
  MadeSamples made;
  made.settings.rollout.dropsEqualRewards = true;
  Bytes samples = made.generate(made.drawn(0), 1), round = made.round();
  const auto headerOf = [&](std::uint32_t engine) {
    return reinterpret_cast<plan::BatchHeader *>(made.engine(samples, engine));
  };
  headerOf(0)->generationSeconds = 2;
  headerOf(1)->generationSeconds = 3;
  headerOf(0)->syncSeconds = 0.5;
  // Draws 0 and 3 have equal rewards: three others are left of four that are needed.
  FunctionReward reward([](const RewardRequest &request) {
    return request.draw % 3 == 0 ? 1.0 : double(request.sample);
  });
  const auto result = scoreRound(made.source(0), reward, samples.data(), round.data());
  ASSERT_TRUE(result.ok()) << result.status().message();
  const RoundReport &report = result->report;
  EXPECT_EQ(report.candidates, 5u);
  EXPECT_EQ(report.trained, 4u);
  EXPECT_EQ(report.dropped, 1u);
  EXPECT_EQ(report.filled, 1u);
  EXPECT_EQ(report.unused, 0u);
  EXPECT_EQ(report.rewardMean, 1);
  EXPECT_DOUBLE_EQ(report.rewardDeviation, std::sqrt(6.0 / 14));
  EXPECT_EQ(report.responses.samples, 15u);
  EXPECT_EQ(report.responses.stopped + report.responses.cut, 15u);
  EXPECT_EQ(report.responses.longest, 6u);
  EXPECT_EQ(report.version, 1);
  EXPECT_EQ(report.seconds.generation, 3);
  EXPECT_EQ(report.seconds.sync, 0.5);
  std::vector<std::uint64_t> draws;
  for (std::uint32_t place = 0; place < 12; place += 3)
    draws.push_back(made.trained(round, place).draw);
  EXPECT_THAT(draws, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(made.trained(round, 0).advantage, 0);
  EXPECT_NE(made.trained(round, 3).advantage, 0);
}

class BadSamples : public testing::Test {
protected:
  std::string complaint() {
    FunctionReward reward(lengthOf);
    const auto result = scoreRound(made.source(0), reward, samples.data(), round.data());
    EXPECT_TRUE(result.ok() || result.status().code() == StatusCode::Unacceptable);
    return result.ok() ? "none" : result.status().message();
  }
  plan::BatchHeader &header(std::uint32_t engine) {
    return *reinterpret_cast<plan::BatchHeader *>(made.engine(samples, engine));
  }
  std::byte *bytes(std::uint32_t engine, std::uint32_t index) {
    return reinterpret_cast<std::byte *>(&made.record(samples, engine, index));
  }
  const MadeSamples made;
  Bytes samples = made.generate(made.drawn(0), 1), round = made.round();
};

TEST_F(BadSamples, None) { EXPECT_EQ(complaint(), "none"); }
TEST_F(BadSamples, Missing) {
  --header(1).count;
  EXPECT_EQ(complaint(), "sample 2 of draw 3 is missing, with 0 of 14 others");
}
TEST_F(BadSamples, Twice) {
  made.record(samples, 0, 1).sample = 0;
  EXPECT_EQ(complaint(), "engine 0: sample 0 of draw 0 is there twice");
}
TEST_F(BadSamples, Foreign) {
  made.record(samples, 0, 1).draw = 5;
  EXPECT_THAT(complaint(), HasSubstr("sample 1 of draw 5 was not asked for"));
  made.record(samples, 0, 1).draw = plan::kFirstEvaluationDraw;
  EXPECT_THAT(complaint(), HasSubstr("was not asked for"));
}
TEST_F(BadSamples, MoreThanFit) {
  header(0).count = 1u << 20;
  EXPECT_THAT(complaint(), HasSubstr("engine 0 has 1048576 samples, a batch has room for 9"));
}
TEST_F(BadSamples, OfAnEvaluation) {
  header(0).isEvaluation = 1;
  EXPECT_THAT(complaint(), HasSubstr("an evaluation instead of a rollout"));
}
TEST_F(BadSamples, OfAnotherVersion) {
  made.record(samples, 1, 0).version = 0;
  EXPECT_THAT(complaint(), HasSubstr("is of version 0 of the weights, expected 1"));
}
TEST_F(BadSamples, OfAnotherPrompt) {
  made.record(samples, 1, 0).prompt ^= 1;
  EXPECT_THAT(complaint(), HasSubstr("is of prompt"));
}
TEST_F(BadSamples, Lengths) {
  plan::SampleRecord &record = made.record(samples, 0, 0);
  const std::uint32_t tokens = record.tokens;
  record.tokens = record.promptTokens;
  EXPECT_THAT(complaint(), HasSubstr("has 0 tokens behind a prompt"));
  record.tokens = record.promptTokens + 7;
  EXPECT_THAT(complaint(), HasSubstr("has 7 tokens behind a prompt"));
  record.tokens = tokens;
  ++record.promptTokens;
  EXPECT_THAT(complaint(), HasSubstr("has a prompt of"));
}
TEST_F(BadSamples, Parts) {
  const plan::RolloutSettings &rollout = made.settings.rollout;
  std::byte *at = bytes(0, 0);
  const auto promptTokens = made.record(samples, 0, 0).promptTokens;
  plan::tokensOf(at, rollout)[promptTokens] = 256;
  EXPECT_THAT(complaint(), HasSubstr("has token 256"));
  plan::tokensOf(at, rollout)[promptTokens] = 1;
  plan::logProbabilitiesOf(at)[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint(), HasSubstr("a log-probability that is no finite number"));
  plan::logProbabilitiesOf(at)[0] = -1;
  plan::tokensOf(at, rollout)[0] ^= 1;
  EXPECT_THAT(complaint(), HasSubstr("begins with other tokens than its prompt"));
}

TEST(ScoreEvaluation, PassAndMean) {
  const MadeSamples made;
  const Bytes samples = made.generate(made.drawnEvaluation(), 3);
  // Right of four: 1 of the first prompt, 2 of the second, none of the third.
  FunctionReward reward([](const RewardRequest &request) {
    const auto prompt = request.draw - plan::kFirstEvaluationDraw;
    return prompt < 2 && request.sample <= prompt ? 1.0 : 0.0;
  });
  const auto report = scoreEvaluation(made.source(2), 3, reward, samples.data());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->mean, 3.0 / 12);
  ASSERT_EQ(report->passAt.size(), 3u);
  EXPECT_EQ(report->passAt[0].first, 1u);
  EXPECT_DOUBLE_EQ(report->passAt[0].second, (1.0 / 4 + 2.0 / 4) / 3);
  EXPECT_EQ(report->passAt[1].first, 2u); // 1 - 3/6 of the first, 1 - 1/6 of the second
  EXPECT_DOUBLE_EQ(report->passAt[1].second, (1.0 / 2 + 5.0 / 6) / 3);
  EXPECT_EQ(report->passAt[2].first, 4u);
  EXPECT_DOUBLE_EQ(report->passAt[2].second, 2.0 / 3);
  EXPECT_THAT(scoreEvaluation(made.source(2), 4, reward, samples.data()).status().message(),
              HasSubstr("of draw 0 of an evaluation is of version 3"));
}

} // namespace
} // namespace vime
