// `--set run.steps=4`: in the place of what the file says, judged like it.
#include "compiler/Frontend/Settings.h"

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {
namespace {

constexpr const char *kJob = R"(version: 1
cluster:   {ranks: 2}
models:
  policy:  {family: null, num-layers: 4}
roles:
  actor:   {model: policy}
pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples}
data:      {text: corpus.txt, sequence: 128 tokens}
optimizer: {lr: 3.0e-4}
run:       {steps: 200}
)";

std::string valueWith(const std::vector<std::string> &settings, std::string_view path) {
  Findings findings;
  const auto job = readJob(kJob, "job.yaml", findings, settings);
  if (!job)
    return renderText(findings, SourceCache());
  for (const ResolvedField &field : fieldsOf(*job))
    if (field.path == path)
      return field.valueText + ", " + std::string(nameOf(field.origin));
  return "none";
}

std::string errorsWith(const std::vector<std::string> &settings) { return valueWith(settings, ""); }

TEST(Settings, ReplaceAValue) {
  EXPECT_EQ(valueWith({}, "run.steps"), "200, given");
  EXPECT_EQ(valueWith({"run.steps=4"}, "run.steps"), "4, given");
  EXPECT_EQ(valueWith({"run.steps=4", "data.sequence=64 tokens"}, "data.sequence"),
            "64 tokens, given");
}

TEST(Settings, AddAValueAndItsSections) {
  EXPECT_EQ(valueWith({}, "limits.transfer"), "600s, default");
  EXPECT_EQ(valueWith({"limits.transfer=30 s"}, "limits.transfer"), "30s, given");
  EXPECT_EQ(valueWith({"roles.actor.parallel.pp=2"}, "roles.actor.parallel.pp"), "2, given");
  EXPECT_EQ(valueWith({"optimizer.betas=[0.8, 0.9]"}, "optimizer.betas"), "[0.8, 0.9], given");
}

// The file says `num-layers`; whichever name either uses, it is one value.
TEST(Settings, ReplaceAValueUnderAnotherName) {
  EXPECT_EQ(valueWith({"models.policy.layers=8"}, "models.policy.layers"), "8, given");
  EXPECT_EQ(valueWith({"models.policy.num_hidden_layers=8"}, "models.policy.layers"), "8, given");
}

TEST(Settings, ReplaceASection) {
  EXPECT_EQ(valueWith({"run={steps: 3, seed: 9}"}, "run.seed"), "9, given");
}

TEST(Settings, ErrorsSayWhichSettingIsWrong) {
  EXPECT_EQ(errorsWith({"run.steps=many"}), R"(error[J0020]: `run.steps` is no whole number: `many`
 --> --set run.steps=many
  = note: digits only
)");
  EXPECT_EQ(errorsWith({"run.stepps=4"}), R"(error[J0012]: unknown key `stepps` in `run`
 --> --set run.stepps=4
  = note: not a key of `run`
  = help: a similar key exists: `steps`
)");
  EXPECT_NE(errorsWith({"run.steps=[4"}).find(" --> --set run.steps=[4\n"), std::string::npos);
  EXPECT_NE(errorsWith({"run.steps="}).find("error[J0020]: `run.steps` has no value\n"),
            std::string::npos);
}

TEST(Settings, NothingIsSetTwice) {
  EXPECT_EQ(errorsWith({"models.policy.layers=8", "models.policy.num-layers=4"}),
            R"(error[J0013]: `models.policy.layers` is set twice
 --> --set models.policy.num-layers=4
  = note: the first one is `--set models.policy.layers=8`
  = help: keep one of them
)");
}

TEST(Settings, Form) {
  EXPECT_TRUE(isSetting("run.steps=4"));
  EXPECT_TRUE(isSetting("name=a=b"));
  EXPECT_TRUE(isSetting("run.export="));
  std::string deep = "a";
  for (int level = 0; level < 100000; ++level)
    deep += ".a";
  EXPECT_FALSE(isSetting(deep + "=1"));
  for (const char *text : {"", "=", "=4", "run.steps", ".a=4", "a.=4", "a..b=4", "a b=4"})
    EXPECT_FALSE(isSetting(text)) << text;
}

} // namespace
} // namespace vime
