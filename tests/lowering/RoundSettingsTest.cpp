#include "compiler/Lowering/RoundSettings.h"

#include <gtest/gtest.h>

#include "compiler/Frontend/ReadJob.h"

namespace vime {
namespace {

Job jobWith(const std::vector<std::string> &settings) {
  Findings findings;
  const auto job = readJob(R"(version: 1
cluster:   {ranks: 4}
models:
  policy:  {family: llama, layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 256}
roles:
  actor:   {model: policy, ranks: 0-1}
  rollout: {ranks: 2-3}
pipeline:  {schedule: 1f1b, microbatch: 256 tokens}
batch:     {prompts: 16, samples_per_prompt: 8, global: 64 samples}
data:      {prompts: train.jsonl, max_prompt: 40 tokens}
rollout:   {max_new: 24 tokens}
reward:    {rule: exact-answer}
optimizer: {lr: 1.0e-4}
run:       {rounds: 40}
)",
                           "job.yaml", findings, settings);
  EXPECT_TRUE(job) << (findings.any() ? findings.all().front().message : "");
  return job ? *job : Job();
}

TEST(RoundSettings, OfASmallJob) {
  const plan::RoundSettings round = roundSettings(jobWith({}), {.prompts = {77, {1, 2}}});
  EXPECT_EQ(round.rollout, (plan::RolloutSettings{.engines = 2,
                                                  .steps = 2,
                                                  .prompts = 16,
                                                  .candidates = 16,
                                                  .samples = 8,
                                                  .maxPrompt = 40,
                                                  .maxNew = 24,
                                                  .slots = 64,
                                                  .stepTokens = 104}));
  EXPECT_EQ(round.prompts, (plan::PromptSettings{"train.jsonl", 77, {1, 2}}));
  EXPECT_EQ(round.reward, plan::RewardSettings());
  EXPECT_EQ(round.algorithm, plan::AlgorithmSettings());
  EXPECT_EQ(round.sync.bucket, 64u << 20);
  EXPECT_EQ(round.evaluation, plan::PromptEvaluation());
}

TEST(RoundSettings, OfEveryValue) {
  const plan::RoundSettings round = roundSettings(
      jobWith({"rollout.temperature=0.8", "rollout.top_p=0.9", "rollout.top_k=50",
               "rollout.stop=[10, 59]", "rollout.over_sample=1.3", "rollout.filter=equal-rewards",
               "rollout.dump=dump", "rollout.slots=4", "rollout.step_tokens=9 tokens",
               "algorithm.advantage=rloo", "algorithm.loss=cispo", "algorithm.clip=[1, 0.28]",
               "algorithm.unit=prompt", "algorithm.kl={coef: 0.01, estimator: k2}",
               "roles.ref.like=actor", "algorithm.entropy=0.5", "weight_sync.bucket=1MiB"}),
      {});
  EXPECT_EQ(round.rollout.candidates, 21u);
  EXPECT_EQ(round.rollout.sampling, (plan::SamplingSettings{0.8, 0.9, 50}));
  EXPECT_EQ(round.rollout.stops, (std::vector<std::uint32_t>{10, 59}));
  EXPECT_TRUE(round.rollout.dropsEqualRewards);
  EXPECT_EQ(round.rollout.dump, "dump");
  EXPECT_EQ(round.rollout.slots, 4u);
  EXPECT_EQ(round.rollout.stepTokens, 9u);
  EXPECT_EQ(round.algorithm, (plan::AlgorithmSettings{.advantage = plan::AdvantageRule::Rloo,
                                                      .objective = plan::PolicyObjective::Cispo,
                                                      .unit = plan::LossUnit::Prompt,
                                                      .clipLow = 1,
                                                      .clipHigh = 0.28,
                                                      .klCoefficient = 0.01,
                                                      .klEstimator = plan::KlEstimator::K2,
                                                      .entropy = 0.5}));
  EXPECT_EQ(round.sync.bucket, 1u << 20);
}

TEST(RoundSettings, OfRewardsAndEvaluations) {
  const auto rewardOf = [](const std::string &reward) {
    return roundSettings(jobWith({"reward=" + reward}), {}).reward;
  };
  EXPECT_EQ(rewardOf("{rule: regex, pattern: \"=[0-9]+\"}"),
            (plan::RewardSettings{.kind = plan::RewardKind::Regex, .what = "=[0-9]+"}));
  EXPECT_EQ(rewardOf("{command: python3 judge.py, timeout: 3s, retries: 0, workers: 4, "
                     "min_workers: 2}"),
            (plan::RewardSettings{.kind = plan::RewardKind::Command,
                                  .what = "python3 judge.py",
                                  .timeoutSeconds = 3,
                                  .retries = 0,
                                  .workers = 4,
                                  .minWorkers = 2}));
  EXPECT_EQ(
      rewardOf("{url: \"http://host:8000/score\"}"),
      (plan::RewardSettings{.kind = plan::RewardKind::Http, .what = "http://host:8000/score"}));
  const plan::RoundSettings round =
      roundSettings(jobWith({"eval={prompts: held-out.jsonl, every: 5 rounds, temperature: 0}"}),
                    {.heldOut = {9, {3, 4}}});
  EXPECT_EQ(round.evaluation, (plan::PromptEvaluation{.prompts = {"held-out.jsonl", 9, {3, 4}},
                                                      .every = 5,
                                                      .count = 16,
                                                      .samples = 1,
                                                      .sampling = {.temperature = 0}}));
}

} // namespace
} // namespace vime
