#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "compiler/Frontend/FieldTable.h"

namespace vime {
namespace {

TEST(FieldTable, EveryRowIsComplete) {
  std::set<std::string_view> paths;
  for (const FieldSpec &field : fieldTable()) {
    EXPECT_TRUE(paths.insert(field.path).second) << field.path << " stands twice";
    if (field.isLater()) {
      EXPECT_FALSE(field.hasValue()) << field.path;
      continue;
    }
    EXPECT_FALSE(field.sentence.empty()) << field.path;
    EXPECT_FALSE(field.phase.empty()) << field.path;
    EXPECT_NE(field.sentence.back(), '.') << field.path;
    EXPECT_EQ(field.hasValue(), field.type != FieldType::Section && field.path != "version")
        << field.path;
    EXPECT_EQ(field.type == FieldType::Word, !field.words.empty()) << field.path;
  }
}

TEST(FieldTable, ASectionStandsBeforeWhatIsInIt) {
  std::set<std::string_view> sections = {""};
  for (const FieldSpec &field : fieldTable()) {
    EXPECT_TRUE(sections.contains(sectionOf(field.path))) << field.path;
    if (field.type == FieldType::Section && !field.isLater())
      sections.insert(field.path);
  }
}

TEST(FieldTable, DefaultsAreLegalAndCanonical) {
  for (const FieldSpec &field : fieldTable()) {
    if (field.fallback.empty())
      continue;
    const auto value = parseValue(field, field.fallback);
    ASSERT_TRUE(std::holds_alternative<Value>(value)) << field.path;
    EXPECT_EQ(printValue(field, std::get<Value>(value)), field.fallback) << field.path;
  }
}

TEST(FieldTable, NumbersHaveARange) {
  for (const FieldSpec &field : fieldTable())
    if (field.type == FieldType::Count || field.type == FieldType::Number ||
        field.type == FieldType::Bytes || field.type == FieldType::Seconds ||
        field.type == FieldType::Pair || field.type == FieldType::Ranks) {
      EXPECT_LE(field.least, field.most) << field.path;
      EXPECT_GT(field.most, 0) << field.path;
    }
}

TEST(FieldTable, AWordIsEitherThereOrLater) {
  for (const FieldSpec &field : fieldTable())
    for (const std::string_view word : field.laterWords)
      EXPECT_EQ(std::count(field.words.begin(), field.words.end(), word), 0)
          << field.path << ' ' << word;
}

TEST(FieldTable, RowsAreFoundByThePathsOfAJob) {
  EXPECT_EQ(findField("models.policy.layers")->path, "models.*.layers");
  EXPECT_EQ(findField("models.policy")->path, "models.*");
  EXPECT_EQ(findField("run.steps")->path, "run.steps");
  EXPECT_EQ(findField("run.stepz"), nullptr);
  EXPECT_EQ(findField("steps"), nullptr);
  EXPECT_EQ(findField(""), nullptr);
  EXPECT_EQ(findField("models.policy.layers.more"), nullptr);
}

TEST(FieldTable, ForeignNamesAreFoundInTheirSection) {
  EXPECT_EQ(findAlias("roles.actor.parallel", "pipeline-model-parallel-size")->path,
            "roles.actor.parallel.pp");
  EXPECT_EQ(findAlias("roles.actor.parallel", "--pipeline_model_parallel_size")->path,
            "roles.actor.parallel.pp");
  EXPECT_EQ(findAlias("models.policy", "num_hidden_layers")->path, "models.*.layers");
  EXPECT_EQ(findAlias("pipeline", "pipeline-model-parallel-size"), nullptr);
  EXPECT_EQ(findAlias("models.policy", ""), nullptr);
}

TEST(FieldTable, NoForeignNameHasTwoMeaningsInASection) {
  for (const FieldSpec &field : fieldTable()) {
    std::string_view rest = field.aliases;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      EXPECT_EQ(findAlias(sectionOf(field.path), rest.substr(0, end)), &field) << rest;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

TEST(FieldTable, EverySectionOfTheDocumentationIsKnown) {
  // The table "Sections" of compiler/docs/job.md.
  for (const char *section : {"cluster", "models", "roles", "pipeline", "batch", "data", "rollout",
                              "reward", "eval", "algorithm", "optimizer", "weight_sync",
                              "staleness", "memory", "checkpoint", "run", "limits"})
    EXPECT_NE(findField(section), nullptr) << section;
}

} // namespace
} // namespace vime
