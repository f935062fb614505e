#include "compiler/Reference/FieldPage.h"

#include <gtest/gtest.h>

#include "compiler/Reference/FieldWords.h"

namespace vime {
namespace {

TEST(FieldPage, ACount) {
  EXPECT_EQ(
      fieldPage(*lookUpField("pipeline.microbatch")),
      R"(pipeline.microbatch: size of one microbatch; in tokens: samples are packed until no more fit

  type      a number of samples or tokens
  range     1 to 65536 samples or 16777216 tokens
  default   none: it must be stated
  phase     memory
  also      `micro-batch-size`
  example   pipeline: {microbatch: 4 samples}
)");
}

TEST(FieldPage, AFieldOfAModelByAnyName) {
  const FieldSpec *field = lookUpField("models.policy.layers");
  ASSERT_TRUE(field);
  EXPECT_EQ(field, lookUpField("models.NAME.layers"));
  EXPECT_EQ(field, lookUpField("num-layers"));
  EXPECT_EQ(field, lookUpField("--num_hidden_layers"));
  EXPECT_EQ(exampleOf(*field), "models: {policy: {layers: 8}}");
}

TEST(FieldPage, ASectionListsItsKeys) {
  const std::string page = fieldPage(*lookUpField("data"));
  EXPECT_TRUE(
      page.starts_with("data: what the model learns from\n\n  text             a text file"))
      << page;
  EXPECT_NE(page.find("\n  not there yet:\n  shuffle          a choice of the order of samples\n"),
            page.npos)
      << page;
}

TEST(FieldPage, WhatIsNotThereYet) {
  EXPECT_EQ(fieldPage(*lookUpField("cluster.disk")),
            "cluster.disk: not there yet: moving state to disk\n");
}

TEST(FieldPage, NearestSpelling) {
  EXPECT_EQ(nearestField("pipeline.shedule"), "pipeline.schedule");
  EXPECT_EQ(nearestField("microbatchs"), "pipeline.microbatches");
  EXPECT_FALSE(nearestField("xyzzy"));
}

TEST(FieldWords, Ranges) {
  const auto range = [](const char *path) { return rangeOf(*lookUpField(path)); };
  EXPECT_EQ(range("version"), "1");
  EXPECT_EQ(range("cluster.memory"), "at least 1B");
  EXPECT_EQ(range("optimizer.betas"), "at least 0, below 1");
  EXPECT_EQ(range("optimizer.epsilon"), "above 0, at most 1");
  EXPECT_EQ(range("limits.transfer"), "above 0s, at most 86400s");
  EXPECT_EQ(range("pipeline.schedule"), "");
}

// What is shown to be copied can be read.
TEST(FieldWords, EveryExampleIsLegal) {
  for (const FieldSpec &field : fieldTable()) {
    if (field.isLater() || field.type == FieldType::Section)
      continue;
    EXPECT_TRUE(std::holds_alternative<Value>(parseValue(field, exampleValueOf(field))))
        << field.path << ": " << exampleValueOf(field);
    EXPECT_FALSE(field.sentence.empty()) << field.path;
  }
}

} // namespace
} // namespace vime
