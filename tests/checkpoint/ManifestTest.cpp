// The manifest as text: what is written comes back, and nothing else is taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Checkpoint/Manifest.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using testing::HasSubstr;

Manifest example() {
  return {.progress = {.steps = 100, .updates = 99, .samples = 3200},
          .plan = "f1c3add07cb546c4f1632888c7d43f38",
          .identity = {{"run.seed", "7"}, {"data.sequence", "128"}},
          .shards = {{"stage-00000-of-00001.safetensors", 4096, {1, 0xfedcba9876543210}}},
          .shardOf = {{"embedding", 0}, {"embedding.exp_avg", 0}}};
}

std::string faultOf(const std::string &text) {
  const auto manifest = parseManifest(text);
  return manifest.ok() ? "" : manifest.status().message();
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, ComesBackAsItWas) {
  const auto back = parseManifest(manifestText(example()));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, example());
}

TEST(Manifest, EveryChangeOfItsContentIsNoticed) {
  const std::string text = manifestText(example());
  EXPECT_EQ(faultOf(replaced(text, "\"steps\": 100", "\"steps\":   100")), ""); // not its content
  EXPECT_EQ(faultOf(replaced(text, "\"steps\": 100", "\"steps\": 101")), "it is damaged");
  EXPECT_EQ(faultOf(replaced(text, "\"run.seed\": \"7\"", "\"run.seed\": \"8\"")), "it is damaged");
  EXPECT_EQ(faultOf(replaced(text, "\"hash\"", "\"hush\"")), "it is damaged");
  EXPECT_EQ(faultOf(text.substr(0, text.size() / 2)), "it is no manifest of a checkpoint");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    if (const auto manifest = parseManifest(flipped); manifest.ok()) {
      EXPECT_EQ(*manifest, example()) << at; // a blank that became another one
    }
  }
}

TEST(Manifest, AnotherVersionIsNamed) {
  EXPECT_EQ(faultOf(replaced(manifestText(example()), "\"version\": 1", "\"version\": 2")),
            "it has version 2, this program knows 1");
}

TEST(Manifest, OtherTextsAreNone) {
  for (const char *text :
       {"", "{", "[]", "7", "null", "{}", R"({"format": 7})", R"({"format": "vime checkpoint"})",
        R"({"format": "other", "version": 1})"})
    EXPECT_EQ(faultOf(text), "it is no manifest of a checkpoint") << text;
  const std::string deep(100000, '[');
  EXPECT_NE(faultOf("{\"format\": \"vime checkpoint\", \"version\": 1, \"x\": " + deep), "");
  EXPECT_NE(faultOf("{\"format\": \"vime checkpoint\", \"version\": 1, \"x\": " + deep +
                    std::string(deep.size(), ']') + "}"),
            "");
}

// Whole, but asking for what no checkpoint has: shards elsewhere, tensors in no shard.
TEST(Manifest, NamesThatLeadAwayAreRefused) {
  for (const char *name : {"../stage", "/etc/passwd", "", ".", "a/b", ".hidden"}) {
    Manifest manifest = example();
    manifest.shards[0].file = name;
    EXPECT_EQ(faultOf(manifestText(manifest)), "it is incomplete") << name;
  }
  Manifest twice = example();
  twice.shards.push_back(twice.shards[0]);
  EXPECT_EQ(faultOf(manifestText(twice)), "it is incomplete");
}

TEST(Identity, NamesTheFirstDifference) {
  const Identity one = identityOf(smallPlan());
  EXPECT_EQ(findDifference(one, one), "");
  plan::Plan plan = smallPlan();
  plan.run.steps = 99; // may change
  plan.run.exportTo = "elsewhere";
  plan.optimizer.learningRate = 1;
  EXPECT_EQ(findDifference(one, identityOf(plan)), "");
  plan.run.seed = 8;
  EXPECT_EQ(findDifference(one, identityOf(plan)), "`run.seed` is 7 there and 8 in the plan");
  plan = smallPlan();
  plan.data.batch *= 2;
  EXPECT_THAT(findDifference(one, identityOf(plan)), HasSubstr("`data.samples_of_a_step`"));
  plan = smallPlan();
  plan.data.microbatches = 1; // the same samples, spread otherwise
  plan.mesh.data = 2;
  EXPECT_EQ(findDifference(one, identityOf(plan)), "");
}

} // namespace
} // namespace vime
