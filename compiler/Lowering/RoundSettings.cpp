#include "compiler/Lowering/RoundSettings.h"

#include <algorithm>

#include "runtime/Plan/Names.h"

namespace vime {
namespace {

plan::PromptSettings promptsOf(const Field<std::string> &file, const FileFingerprint &facts) {
  return {.file = file.value, .bytes = facts.bytes, .hash = facts.hash};
}

plan::RolloutSettings rolloutOf(const Job &job) {
  const auto &rollout = job.rollout;
  return {.engines = job.rolloutRole.ranks.value,
          .steps = static_cast<std::uint32_t>(stepsOfRound(job)),
          .prompts = job.batch.prompts.value,
          .candidates = static_cast<std::uint32_t>(candidatesOf(job)),
          .samples = job.batch.samplesPerPrompt.value,
          .maxPrompt = job.data.maxPrompt.value,
          .maxNew = rollout.maxNew.value,
          .slots = rollout.slots.value,
          .stepTokens = rollout.stepTokens.value,
          .sampling = {.temperature = rollout.temperature.value,
                       .topP = rollout.topP.value,
                       .topK = rollout.topK.value},
          .stops = {rollout.stop.value.begin(), rollout.stop.value.end()},
          .dropsEqualRewards = rollout.filter.value == "equal-rewards",
          .dump = rollout.dump.value};
}

plan::RewardSettings rewardOf(const Job &job) {
  const auto &reward = job.reward;
  plan::RewardSettings settings{.timeoutSeconds = reward.timeoutSeconds.value,
                                .retries = reward.retries.value,
                                .workers = reward.workers.value,
                                .minWorkers = reward.minWorkers.value};
  if (!reward.command.value.empty()) {
    settings.kind = plan::RewardKind::Command;
    settings.what = reward.command.value;
  } else if (!reward.url.value.empty()) {
    settings.kind = plan::RewardKind::Http;
    settings.what = reward.url.value;
  } else {
    settings.kind = *plan::enumeratorOf<plan::RewardKind>(reward.rule.value);
    settings.what = reward.pattern.value;
  }
  return settings;
}

plan::AlgorithmSettings algorithmOf(const Job &job) {
  const auto &algorithm = job.algorithm;
  return {.advantage = *plan::enumeratorOf<plan::AdvantageRule>(algorithm.advantage.value),
          .objective = *plan::enumeratorOf<plan::PolicyObjective>(algorithm.loss.value),
          .unit = *plan::enumeratorOf<plan::LossUnit>(algorithm.unit.value),
          .clipLow = algorithm.clipLow.value,
          .clipHigh = algorithm.clipHigh.value,
          .dualClip = algorithm.dualClip.value,
          .klCoefficient = algorithm.klCoefficient.value,
          .klInReward = algorithm.klPlace.value == "reward",
          .klEstimator = *plan::enumeratorOf<plan::KlEstimator>(algorithm.klEstimator.value),
          .entropy = algorithm.entropy.value,
          .correction = *plan::enumeratorOf<plan::Correction>(algorithm.correction.value),
          .correctionLow = algorithm.correctionLow.value,
          .correctionHigh = algorithm.correctionHigh.value};
}

plan::PromptEvaluation evaluationOf(const Job &job, const FileFingerprint &facts) {
  const auto &held = job.evaluation;
  if (held.prompts.value.empty())
    return {};
  return {.prompts = promptsOf(held.prompts, facts),
          .every = held.every.value,
          .count = held.count.value,
          .samples = std::max<std::uint32_t>(static_cast<std::uint32_t>(held.samples.value), 1),
          .sampling = {.temperature = held.temperature.value,
                       .topP = held.topP.value,
                       .topK = held.topK.value}};
}

} // namespace

plan::RoundSettings roundSettings(const Job &job, const RoundFacts &facts) {
  return {.rollout = rolloutOf(job),
          .prompts = promptsOf(job.data.prompts, facts.prompts),
          .reward = rewardOf(job),
          .algorithm = algorithmOf(job),
          .sync = {.bucket = job.weightSync.bucket.value},
          .evaluation = evaluationOf(job, facts.heldOut)};
}

} // namespace vime
