// Rounds of a run, from a job file through both tools, against a loop in LibTorch: from what the
// engines generated and the rewards, as dumps tell them, it makes advantages, losses and steps of
// its own. Losses and gradients of every step must be the run's, and so must log-probabilities.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "kernels/Native.h"
#include "tests/Oracle/RunValues.h"
#include "tests/Oracle/TorchPolicy.h"

namespace vime {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-9; // AdamW magnifies rounding from step to step
constexpr std::uint32_t kRounds = 3, kSteps = 2, kPrompts = 4, kSamples = 4,
                        kMostNew = kPolicyConstant;

struct Case {
  const char *name;
  ModelFamily family;
  bool tiedHead, hasReference;
  const char *advantage, *algorithm, *temperature;
  PolicyCase made;
};

std::vector<Case> cases() {
  return {
      {"grpo_kl_entropy",
       ModelFamily::Llama,
       false,
       true,
       "grpo",
       "loss: ppo-clip, clip: [0.02, 0.03], kl: {coef: 0.1, estimator: k3}, entropy: 0.05",
       "1.0",
       {"",
        {.clipLow = 0.02, .clipHigh = 0.03, .kl = KlTerm{KlEstimator::K3, 0.1}, .entropy = 0.05},
        LossUnit::Rollout}},
      {"gspo_tis_tied",
       ModelFamily::Qwen2,
       true,
       false,
       "dr-grpo",
       "loss: gspo, clip: [0.002, 0.003], unit: sequence, "
       "correction: {kind: tis, low: 0.9, high: 1.1}",
       "0.8",
       {"",
        {.objective = Objective::Gspo,
         .clipLow = 0.002,
         .clipHigh = 0.003,
         .offPolicy = {.correction = Correction::Truncated, .low = 0.9, .high = 1.1}},
        LossUnit::Sequence}},
      {"reinforce_tis",
       ModelFamily::Llama,
       false,
       false,
       "dr-grpo",
       "loss: reinforce, unit: constant, correction: {kind: tis, low: 0.9, high: 1.1}",
       "0.8",
       {"",
        {.objective = Objective::Reinforce,
         .offPolicy = {.correction = Correction::Truncated, .low = 0.9, .high = 1.1}},
        LossUnit::Constant}},
      {"rloo_cispo",
       ModelFamily::Qwen3,
       false,
       true,
       "rloo",
       "loss: cispo, clip: [0.02, 0.03], unit: token, kl: {coef: 0.1, estimator: k2}",
       "1.0",
       {"",
        {.objective = Objective::Cispo,
         .clipLow = 0.02,
         .clipHigh = 0.03,
         .kl = KlTerm{KlEstimator::K2, 0.1}},
        LossUnit::Token}}};
}

ModelConfig configOf(const Case &made) {
  return {.family = made.family,
          .type = DataType::Float64,
          .layers = 4,
          .hidden = 32,
          .heads = 4,
          .kvHeads = 2,
          .headWidth = 8,
          .ffn = 88,
          .vocab = 256,
          .tiedHead = made.tiedHead};
}

std::string jobText(const Case &made) {
  return fmt::format(R"(version: 1
cluster: {{ranks: 3, device: cpu}}
models:
  tiny: {{family: {}, layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 88, vocab: 256,
         norm_epsilon: 1e-5, rope_theta: 10000, tied: {}, dtype: float64}}
roles:
  actor:   {{model: tiny, ranks: 0-1, parallel: {{pp: 2}}}}
  rollout: {{model: tiny, ranks: 2, engine: native}}{}
pipeline:  {{schedule: 1f1b, microbatch: 64 tokens}}
batch:     {{prompts: {}, samples_per_prompt: {}, global: {} samples}}
data:      {{prompts: train.jsonl, max_prompt: 8 tokens}}
rollout:   {{max_new: {} tokens, temperature: {}, stop: [10], over_sample: 1.5, filter: equal-rewards, dump: rounds}}
reward:    {{rule: regex, pattern: "[a-m]"}}
algorithm: {{advantage: {}, {}}}
weight_sync: {{transport: broadcast, bucket: 16KiB}}
optimizer: {{kind: adamw, lr: 1.0e-3, clip: 1.0}}
run:       {{rounds: {}, seed: 7}}
)",
                     nameOf(made.family), made.tiedHead,
                     made.hasReference ? "\n  ref: {model: tiny, like: actor, frozen: true}" : "",
                     kPrompts, kSamples, kPrompts * kSamples / kSteps, kMostNew, made.temperature,
                     made.advantage, made.algorithm, kRounds);
}

class RoundRun : public testing::TestWithParam<Case> {
protected:
  RoundRun()
      : path(std::filesystem::temp_directory_path() / fmt::format("vime-rounds-{}", getpid())) {
    std::filesystem::create_directories(path);
  }
  ~RoundRun() override { std::filesystem::remove_all(path); }

  /// The steps, as `vime-exec --json` tells them.
  json run() const {
    std::ofstream prompts(path / "train.jsonl");
    for (int number = 0; number < 24; ++number)
      prompts << fmt::format("{{\"prompt\": \"{}+{}=\", \"answer\": \"a\"}}\n", number, number);
    prompts.close();
    std::ofstream(path / "job.yaml") << jobText(GetParam());
    const std::string tools = VIME_BINARIES;
    const std::string command = fmt::format("cd '{}' && '{}/vimec' job.yaml -o plan.bin && "
                                            "'{}/vime-exec' plan.bin --quiet --json > run.json",
                                            path.string(), tools, tools);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(path / "run.json");
    return json::parse(file, nullptr, /*allow_exceptions=*/false).value("history", json::array());
  }
  /// The samples that a round trained on.
  std::vector<json> samplesOf(std::uint32_t round) const {
    std::ifstream file(path / "rounds" / fmt::format("round-{:06}.jsonl", round));
    std::vector<json> samples;
    for (std::string line; std::getline(file, line);)
      if (const json one = json::parse(line); one.value("trained", false))
        samples.push_back(one);
    return samples;
  }
  const std::filesystem::path path;
};

INSTANTIATE_TEST_SUITE_P(Cases, RoundRun, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

/// Of all samples of a round, prompt after prompt.
torch::Tensor advantagesOf(const std::string &rule, const std::vector<json> &samples) {
  Values rewards;
  for (const json &sample : samples)
    rewards.push_back(sample["reward"].get<double>());
  const torch::Tensor table =
      torch::tensor(rewards, torch::kFloat64).view({kPrompts, std::int64_t(kSamples)});
  const torch::Tensor apart = table - table.mean(1, true);
  if (rule == "rloo")
    return (table - (table.sum(1, true) - table) / double(kSamples - 1)).flatten();
  return (rule == "grpo"
              ? apart / (table.std(at::IntArrayRef{1}, /*unbiased=*/true, /*keepdim=*/true) + 1e-6)
              : apart)
      .flatten();
}

/// One optimizer step: all its samples, one behind the other.
struct Step {
  TorchBatch batch{{}, {}, {0}};
  PolicySamples samples;

  void add(const json &sample, double advantage, std::uint32_t place) {
    const auto tokens = sample["tokens"].get<std::vector<std::int32_t>>();
    const auto old = sample["log_probabilities"].get<Values>(),
               sampled = sample["sampled_log_probabilities"].get<Values>();
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
      const bool learns = at + 1 + old.size() >= tokens.size();
      const std::size_t drawn = at + 1 + old.size() - tokens.size();
      batch.tokens.push_back(tokens[at]);
      batch.labels.push_back(learns ? tokens[at + 1] : -1);
      samples.mask.push_back(learns ? 1 : 0);
      samples.old.push_back(learns ? old[drawn] : 0);
      samples.sampled.push_back(learns ? sampled[drawn] : 0);
      samples.advantages.push_back(advantage);
    }
    batch.offsets.push_back(std::int32_t(batch.tokens.size()));
    samples.begins.push_back(std::uint32_t(batch.tokens.size()));
    samples.step.push_back(
        {.rollout = place, .prompt = place / kSamples, .tokens = std::uint32_t(old.size())});
  }
};

torch::Tensor rowsOf(const Values &logits, const Step &step) {
  return torch::tensor(logits, torch::kFloat64).view({std::int64_t(step.batch.tokens.size()), -1});
}

Values valuesOf(const torch::Tensor &tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  return Values(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

TEST_P(RoundRun, IsTheLoopInLibTorch) {
  const Case &made = GetParam();
  const ModelConfig config = configOf(made);
  const json history = run();
  ASSERT_EQ(history.size(), kRounds * kSteps);
  const ModelRun start(config, 1, {1, 1, 1}, *nativeKernels(DataType::Float64), /*seed=*/7);
  const NamedTensors initial = named(start, start.parameters(), DataType::Float64);
  TorchTraining training(config, initial, 1e-3, /*weightDecay=*/0.01);
  double moved = 0, clipped = 0;
  for (std::uint32_t index = 0; index < history.size(); ++index) {
    SCOPED_TRACE(fmt::format("step {}", index));
    const std::vector<json> all = samplesOf(index / kSteps);
    ASSERT_EQ(all.size(), kPrompts * kSamples);
    const torch::Tensor advantages = advantagesOf(made.advantage, all);
    Step step;
    constexpr std::uint32_t kOfStep = kPrompts * kSamples / kSteps;
    for (std::uint32_t place = index % kSteps * kOfStep, end = place + kOfStep; place < end;
         ++place)
      step.add(all[place], advantages[place].item<double>(), place);
    const Values zeros(step.batch.tokens.size() * config.vocab);
    step.samples.reference =
        valuesOf(policyOf(rowsOf(torchStage(config, {0, config.layers, true, true}, initial,
                                            step.batch, {}, zeros)
                                     .output,
                                 step),
                          step.batch.labels)
                     .logProbabilities);
    double loss = 0, drift = 0;
    const double norm = training.descend(step.batch, [&](const Values &values) {
      const torch::Tensor logits = rowsOf(values, step).set_requires_grad(true);
      const TorchRows rows = policyOf(logits, step.batch.labels);
      const torch::Tensor total =
          torchPolicyLoss(made.made, step.samples, rows.logProbabilities, rows.entropies);
      total.backward();
      loss = total.item<double>();
      drift = (rows.logProbabilities - torch::tensor(step.samples.old, torch::kFloat64))
                  .abs()
                  .max()
                  .item<double>();
      return valuesOf(logits.grad());
    });
    EXPECT_NEAR(history[index]["loss"].get<double>(), loss, kTolerance);
    EXPECT_NEAR(history[index]["gradient_norm"].get<double>() / norm, 1, kTolerance);
    EXPECT_NEAR(history[index]["policy"]["largest_drift"].get<double>(), drift, kTolerance);
    if (index % kSteps == 0) {
      EXPECT_LT(drift, 1e-9) << "what an engine wrote down is what LibTorch finds";
    }
    moved = std::max(moved, drift);
    clipped += history[index]["policy"]["clip_fraction"].get<double>();
  }
  EXPECT_GT(moved, 0.01) << "or the second steps say nothing";
  EXPECT_EQ(clipped > 0, made.made.settings.objective != Objective::Reinforce);
}

} // namespace
} // namespace vime
