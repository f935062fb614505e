#include "runtime/Data/PromptFile.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fileOf(const std::string &text) {
  const std::string path = testing::TempDir() + "prompts-" + std::to_string(getpid()) + ".jsonl";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

StatusOr<PromptFile> open(const std::string &text, PromptLimits limits = {.tokens = 8}) {
  return PromptFile::open(fileOf(text), limits);
}

std::string complaint(const std::string &text, PromptLimits limits = {.tokens = 8}) {
  const StatusOr<PromptFile> prompts = open(text, limits);
  return prompts.ok() ? "none" : prompts.status().message();
}

TEST(PromptFile, TextsAndIds) {
  const auto prompts = open("{\"prompt\": \"1+1=\", \"answer\": \"2\"}\n"
                            "{\"prompt_ids\": [255, 0], \"label\": \"x\", \"metadata\": {\"b\": 1, "
                            "\"a\": [0.1]}}\r\n");
  ASSERT_TRUE(prompts.ok()) << prompts.status().message();
  ASSERT_EQ(prompts->count(), 2u);
  EXPECT_THAT(prompts->at(0).tokens, ElementsAre('1', '+', '1', '='));
  EXPECT_TRUE(prompts->at(0).isText);
  EXPECT_EQ(prompts->at(0).answer, "2");
  EXPECT_THAT(prompts->at(1).tokens, ElementsAre(255, 0));
  EXPECT_FALSE(prompts->at(1).isText);
  EXPECT_EQ(prompts->at(1).answer, "x");
  EXPECT_EQ(prompts->at(1).metadata, "{\"b\":1,\"a\":[0.1]}");
}

TEST(PromptFile, BytesThatAreNoUtf8StayWhatTheyAre) {
  const auto prompts =
      open("{\"prompt\": \"a\xFF\xC3\xA9\\u00e9\x80\", \"answer\": \"\xE9\"}", {.tokens = 7});
  ASSERT_TRUE(prompts.ok()) << prompts.status().message();
  EXPECT_THAT(prompts->at(0).tokens, ElementsAre('a', 0xFF, 0xC3, 0xA9, 0xC3, 0xA9, 0x80));
  EXPECT_EQ(prompts->at(0).answer, "\xE9");
  EXPECT_THAT(complaint("{\"prompt\": \"\xFF\\udbff\\udf80\"}"), HasSubstr("no UTF-8 beside"));
}

TEST(PromptFile, EveryErrorNamesFileAndLine) {
  const std::string good = "{\"prompt\": \"1\"}\n";
  EXPECT_THAT(complaint(good + "{"), HasSubstr(".jsonl`, line 2: no JSON"));
  EXPECT_THAT(complaint(good + "\n" + good), HasSubstr("line 2: an empty line"));
  EXPECT_THAT(complaint("[1]"), HasSubstr("line 1: a JSON array, expected an object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("line 1: neither `prompt` nor `prompt_ids`"));
  EXPECT_THAT(complaint("{\"prompt\": \"\"}"), HasSubstr("the prompt is empty"));
  EXPECT_THAT(complaint(good + good + "{\"prompt\": \"123456789\"}"),
              HasSubstr("line 3: the prompt has 9 tokens, the longest may have 8"));
  EXPECT_THAT(complaint("{\"prompt\": 3}"), HasSubstr("`prompt` is a JSON number"));
  EXPECT_THAT(complaint("{\"prompt_ids\": [1, 256]}"),
              HasSubstr("`prompt_ids` has 256 at place 1, tokens are 0 to 255"));
  EXPECT_THAT(complaint("{\"prompt_ids\": [-1]}"), HasSubstr("has -1 at place 0"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"prompt\": \"2\"}"),
              HasSubstr("two keys are called `prompt`"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"metadata\": {\"a\": 1, \"a\": 1}}"),
              HasSubstr("two keys are called `a`"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"prompt_ids\": [1]}"),
              HasSubstr("both `prompt` and `prompt_ids`"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"level\": 2}"), HasSubstr("`level` is no key"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"answer\": 2}"),
              HasSubstr("`answer` is a JSON number, expected a text"));
  EXPECT_THAT(complaint("{\"prompt\": \"1\", \"metadata\": 2}"), HasSubstr("expected an object"));
  EXPECT_THAT(complaint(""), HasSubstr("the file is empty"));
}

TEST(PromptFile, RewardsByRuleNeedTextAndAnswers) {
  plan::RoundSettings round;
  round.rollout.maxPrompt = 8;
  round.reward.kind = plan::RewardKind::Numeric;
  EXPECT_THAT(complaint("{\"prompt\": \"1\"}", promptLimits(round, 256)), HasSubstr("no `answer`"));
  EXPECT_THAT(complaint("{\"prompt_ids\": [1], \"answer\": \"1\"}", promptLimits(round, 256)),
              HasSubstr("`prompt_ids` are no text"));
  round.reward.kind = plan::RewardKind::Command;
  EXPECT_EQ(complaint("{\"prompt_ids\": [1]}", promptLimits(round, 256)), "none");
  EXPECT_THAT(complaint("{\"prompt\": \"1\"}", promptLimits(round, 64)),
              HasSubstr("vocabulary of 64"));
}

TEST(PromptFile, OfAnotherFileThanThePlans) {
  const std::string path = fileOf("{\"prompt\": \"1\"}\n");
  const auto print = PromptFile::open(path, {.tokens = 8})->fingerprint();
  EXPECT_TRUE(PromptFile::open(path, {.tokens = 8}, print).ok());
  fileOf("{\"prompt\": \"2\"}\n");
  const auto other = PromptFile::open(path, {.tokens = 8}, print);
  EXPECT_EQ(other.status().code(), StatusCode::Unacceptable);
  EXPECT_THAT(other.status().message(), HasSubstr("have other content than when the plan"));
  fileOf("{\"prompt\": \"22\"}\n");
  EXPECT_THAT(PromptFile::open(path, {.tokens = 8}, print).status().message(),
              HasSubstr("have 17 bytes, and had 16"));
  std::remove(path.c_str());
  EXPECT_EQ(PromptFile::open(path, {.tokens = 8}).status().code(), StatusCode::File);
}

TEST(PromptOfDraw, EachPromptComesOnceAnEpoch) {
  std::vector<std::uint64_t> first(7), second(7), all(7);
  std::iota(all.begin(), all.end(), 0);
  for (std::uint64_t draw = 0; draw < 7; ++draw) {
    first[draw] = promptOfDraw(7, 3, draw);
    second[draw] = promptOfDraw(7, 3, 7 + draw);
  }
  EXPECT_NE(first, second);
  EXPECT_THAT(first, testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(second, testing::UnorderedElementsAreArray(all));
}

} // namespace
} // namespace vime
