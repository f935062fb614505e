// The settings of rounds, whoever wrote them: numbers that fit together, and sizes far from where
// sums of them could overflow.
#include "runtime/Plan/CheckParts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime::plan {
namespace {

constexpr std::uint32_t kMostRecords = 1u << 24, kMostTokensOfSequence = 1u << 22,
                        kMostStopTokens = 8;

bool isSampling(const SamplingSettings &sampling) {
  return sampling.temperature >= 0 && std::isfinite(sampling.temperature) && sampling.topP > 0 &&
         sampling.topP <= 1 && sampling.topK <= kMostRecords;
}

Status checkRollout(const Plan &plan) {
  const RolloutSettings &rollout = plan.round.rollout;
  const auto isCount = [](std::uint32_t count, std::uint32_t most) {
    return count >= 1 && count <= most;
  };
  if (rollout.engines != plan.mesh.engines)
    return unacceptable(
        fmt::format("rounds with {} engines, the mesh has {}", rollout.engines, plan.mesh.engines));
  if (!isCount(rollout.prompts, kMostRecords) || !isCount(rollout.candidates, kMostRecords) ||
      rollout.candidates < rollout.prompts || !isCount(rollout.samples, kMostRecords) ||
      std::uint64_t(rollout.candidates) * rollout.samples > kMostRecords)
    return unacceptable(fmt::format("rounds of {} prompts out of {}, {} samples of each",
                                    rollout.prompts, rollout.candidates, rollout.samples));
  if (!isCount(rollout.maxPrompt, kMostTokensOfSequence) ||
      !isCount(rollout.maxNew, kMostTokensOfSequence) || rollout.rows() < plan.data.sequence)
    return unacceptable(fmt::format("sequences of {} tokens of a prompt and {} new ones",
                                    rollout.maxPrompt, rollout.maxNew));
  if (!check(capsOf(rollout)).ok())
    return unacceptable(fmt::format("engines of {} sequences and {} tokens a step", rollout.slots,
                                    rollout.stepTokens));
  const std::uint64_t ofRound = std::uint64_t(rollout.prompts) * rollout.samples;
  if (rollout.steps < 1 || plan.run.steps % rollout.steps != 0 || plan.data.batch < 1 ||
      ofRound != plan.data.batch * rollout.steps)
    return unacceptable(fmt::format("{} samples of a round in {} steps of {}, {} steps in all",
                                    ofRound, rollout.steps, plan.data.batch, plan.run.steps));
  if (!isSampling(rollout.sampling) || rollout.stops.size() > kMostStopTokens)
    return unacceptable("how tokens are drawn is out of range");
  if (!isCleanText(rollout.dump) || promptsBytes(plan.round) > kMostMessage ||
      samplesBytes(plan.round) > kMostMessage || roundBytes(plan.round) > kMostMessage)
    return unacceptable("a round has more than a message can carry");
  return Status();
}

Status checkAlgorithm(const AlgorithmSettings &a) {
  const auto isAmount = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!isEnumerator(a.advantage) || !isEnumerator(a.objective) || !isEnumerator(a.unit) ||
      !isEnumerator(a.klEstimator) || !isEnumerator(a.correction))
    return unacceptable("the algorithm is unknown");
  if (!isAmount(a.clipLow) || !isAmount(a.clipHigh) || !(a.dualClip == 0 || a.dualClip > 1) ||
      !isAmount(a.dualClip) || !isAmount(a.klCoefficient) || !std::isfinite(a.entropy) ||
      !isAmount(a.correctionLow) || !isAmount(a.correctionHigh) ||
      a.correctionLow > a.correctionHigh)
    return unacceptable("a setting of the algorithm is out of range");
  const bool isWhitened = a.advantage == AdvantageRule::ReinforcePlusPlus ||
                          a.advantage == AdvantageRule::ReinforcePlusPlusBaseline;
  if (a.klInReward && (!isWhitened || a.klCoefficient == 0))
    return unacceptable("a KL in the reward of an algorithm that has none");
  return Status();
}

Status checkReward(const RewardSettings &reward) {
  if (!isEnumerator(reward.kind) || !isCleanText(reward.what) || !(reward.timeoutSeconds > 0) ||
      !std::isfinite(reward.timeoutSeconds) || reward.workers < 1 || reward.minWorkers < 1 ||
      reward.minWorkers > reward.workers)
    return unacceptable("rewards are given in no known way");
  return Status();
}

} // namespace

Status checkRound(const Plan &plan) {
  const RoundSettings &round = plan.round;
  if (plan.mesh.engines == 0)
    return round == RoundSettings() ? Status() : unacceptable("rounds without engines");
  if (plan.models.empty() || plan.models.size() > 2 || isPostValidated(plan))
    return unacceptable("rounds with other models than the policy and its reference");
  if (plan.data.slices != 1 || plan.models.front().sharded)
    return unacceptable("rounds of samples in slices, or of replicas that share their weights");
  if (!isCleanText(round.prompts.file) || round.prompts.file.empty() ||
      !isCleanText(round.evaluation.prompts.file))
    return unacceptable("the file of prompts has no legible name");
  if (round.sync.bucket == 0 || round.sync.bucket > kMostMessage || round.sync.bucket % 8 != 0)
    return unacceptable(fmt::format("weights in parts of {} bytes", round.sync.bucket));
  const PromptEvaluation &held = round.evaluation;
  if (held.prompts.file.empty() != (held.every == 0) ||
      (held.every != 0 && (held.count < 1 || held.samples < 1 || !isSampling(held.sampling) ||
                           std::uint64_t(held.count) * held.samples > kMostRecords)))
    return unacceptable("an evaluation of prompts that there are not");
  if (Status status = checkRollout(plan); !status.ok())
    return status;
  if (Status status = checkReward(round.reward); !status.ok())
    return status;
  return checkAlgorithm(round.algorithm);
}

} // namespace vime::plan
