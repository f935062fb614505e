// Jobs with rounds: what follows from what they state.
#include <gtest/gtest.h>

#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/Microbatch.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

std::string roundJob(std::string_view what = "", std::string_view by = "") {
  std::string text = sampleRoundsText();
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string textOf(const Job &job, std::string_view path) {
  for (const ResolvedField &field : fieldsOf(job))
    if (field.path == path)
      return field.valueText + (field.from.empty() ? "" : " from " + field.from);
  return "absent";
}

TEST(Rounds, ValuesFollowFromWhatIsStated) {
  const Job job = legalJob(roundJob());
  EXPECT_TRUE(hasRounds(job));
  EXPECT_FALSE(hasReference(job));
  EXPECT_EQ(textOf(job, "run.steps"),
            "80 from run.rounds, batch.prompts, batch.samples_per_prompt, batch.global");
  EXPECT_EQ(textOf(job, "data.sequence"), "64 tokens from data.max_prompt, rollout.max_new");
  EXPECT_EQ(textOf(job, "roles.rollout.model"), "policy from roles.actor.model");
  EXPECT_EQ(job.actor.pipeline.value, 2u);
  EXPECT_EQ(job.rollout.slots.value, 64u);       // 8 prompts of 8 samples on each engine
  EXPECT_EQ(job.rollout.stepTokens.value, 104u); // and a prompt
  EXPECT_EQ(job.algorithm.unit.value, "rollout");
  EXPECT_EQ(textOf(job, "data.split"), "absent");
  EXPECT_EQ(textOf(job, "data.text"), "absent");
  EXPECT_EQ(textOf(job, "roles.ref.model"), "absent");
}

TEST(Rounds, MicrobatchesSufficeForTheLongestSamples) {
  // 32 samples in each replica, 3 of 64 tokens into 200.
  const Job job = legalJob(roundJob());
  EXPECT_EQ(job.pipeline.microbatches.value, 11u);
  EXPECT_EQ(capsOf(job).tokens, 200u);
  EXPECT_EQ(capsOf(job).segments, 32u);
  EXPECT_EQ(capsOf(job).segmentTokens, 64u);
}

TEST(Rounds, SegmentsAreNoMoreThanAStepHas) {
  const Job job = legalJob(roundJob("200 tokens", "65536 tokens"));
  EXPECT_EQ(job.pipeline.microbatches.value, 1u);
  EXPECT_EQ(capsOf(job).segments, 32u);
  EXPECT_EQ(capsOf(job).tokens, 32u * 64u);
}

TEST(Rounds, RanksFollowFromThoseOfTheOtherRole) {
  EXPECT_EQ(textOf(legalJob(roundJob("{ranks: 4-5}", "{engine: native}")), "roles.rollout.ranks"),
            "4-5 from cluster.ranks, roles.actor.ranks");
  EXPECT_EQ(textOf(legalJob(roundJob(", ranks: 0-3", "")), "roles.actor.ranks"),
            "0-3 from roles.rollout.ranks");
  EXPECT_EQ(textOf(legalJob(roundJob("cluster:   {ranks: 6}\n", "")), "cluster.ranks"),
            "6 from roles.actor.ranks, roles.rollout.ranks");
}

TEST(Rounds, AStepTakesAllSamplesUnlessOtherwiseStated) {
  const Job job = legalJob(roundJob(", global: 64 samples", ""));
  EXPECT_EQ(job.batch.global.value, 128u);
  EXPECT_EQ(job.run.steps.value, 40u);
}

TEST(Rounds, UnitsAreThoseOfThePapers) {
  const auto unitOf = [](const std::string &algorithm) {
    return legalJob(roundJob("reward:", "algorithm: {" + algorithm + "}\nreward:"))
        .algorithm.unit.value;
  };
  EXPECT_EQ(unitOf("advantage: rloo"), "rollout");
  EXPECT_EQ(unitOf("advantage: dr-grpo"), "constant");
  EXPECT_EQ(unitOf("advantage: reinforce++"), "token");
  EXPECT_EQ(unitOf("loss: cispo"), "token");
  EXPECT_EQ(unitOf("loss: gspo"), "sequence");
}

TEST(Rounds, TokensAreNumbersOrTexts) {
  const Job job = legalJob(roundJob("24 tokens", R"(24 tokens, stop: ["\n", 59, "1"])"));
  EXPECT_EQ(job.rollout.stop.value, (CountList{10, 59, 49}));
  EXPECT_EQ(textOf(job, "rollout.stop"), "[10, 59, 49]");
  EXPECT_EQ(legalJob(roundJob("24 tokens", R"(24 tokens, stop: ";")")).rollout.stop.value,
            CountList{59});
}

TEST(Rounds, OneClipIsBoth) {
  const auto job = [](const std::string &clip) {
    return legalJob(roundJob("reward:", "algorithm: {clip: " + clip + "}\nreward:"));
  };
  EXPECT_EQ(textOf(job("0.1"), "algorithm.clip"), "[0.1, 0.1]");
  EXPECT_EQ(textOf(job("[0.2, 0.28]"), "algorithm.clip"), "[0.2, 0.28]");
}

TEST(Rounds, AReferenceIsOnTheRanksOfTheActor) {
  const Job job = legalJob(roundJob("  rollout: {", "  ref: {frozen: true}\n  rollout: {")
                               .append("algorithm: {kl: {coef: 0.01}}\n"));
  EXPECT_TRUE(hasReference(job));
  EXPECT_EQ(textOf(job, "roles.ref.model"), "policy from roles.actor.model");
}

TEST(Rounds, ATiedHeadIsForPolicies) {
  EXPECT_TRUE(
      legalJob(roundJob("vocab: 256", "vocab: 256, tied: true")).model("policy")->config.tiedHead);
}

TEST(Rounds, EvaluationsDrawAsRolloutsDo) {
  const Job job = legalJob(roundJob("24 tokens", "24 tokens, temperature: 0.8") +
                           "eval: {prompts: held-out.jsonl, every: 5 rounds}\n");
  EXPECT_EQ(textOf(job, "eval.every"), "5 rounds");
  EXPECT_EQ(textOf(job, "eval.temperature"), "0.8 from rollout.temperature");
  EXPECT_EQ(job.evaluation.count.value, 16u);
}

TEST(Rounds, CandidatesAreRoundedUp) {
  const Job job =
      legalJob(roundJob("24 tokens", "24 tokens, over_sample: 1.3, filter: equal-rewards"));
  EXPECT_EQ(candidatesOf(job), 21u); // 20.8
}

TEST(Rounds, AListOfFieldsGivesTheJobBack) {
  const Job job =
      legalJob(roundJob("  rollout: {", "  ref: {like: actor}\n  rollout: {") +
               "algorithm: {kl: {coef: 0.01}}\neval: {prompts: held-out.jsonl, every: 5 rounds}\n");
  Findings findings;
  const auto again = jobFromFields(job.file, fieldsOf(job), findings);
  ASSERT_TRUE(again) << (findings.any() ? findings.all().front().message : "");
  EXPECT_EQ(fieldsOf(*again), fieldsOf(job));
}

TEST(Rounds, TheDocumentedJobIsLegal) {
  const std::string page = contentsOf(std::filesystem::path(VIME_DOCS) / "job.md");
  const std::size_t first = page.find("# 2. GRPO"), end = page.find("```", first);
  ASSERT_NE(end, std::string::npos);
  std::string text = page.substr(first, end - first);
  const std::string_view checkpoint = "checkpoint: out/sft";
  const std::size_t at = text.find(checkpoint);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, checkpoint.size(),
               "family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256");
  EXPECT_EQ(stepsOfRound(legalJob(text)), 2u);
}

TEST(Rounds, AResolvedTextIsTheSameJob) {
  const Job job = legalJob(roundJob() + "algorithm: {loss: reinforce}\n");
  const Job again = legalJob(resolvedText(job));
  for (const ResolvedField &field : fieldsOf(job))
    EXPECT_TRUE(textOf(again, field.path).starts_with(field.valueText)) << field.path;
}

} // namespace
} // namespace vime
