// RoundFields: the settings of rounds as a list of names and values, for everybody who prints or
// reads them.
//
//   visitRound(plan.round, [](std::string_view name, auto &value) { … });
//
// Values are numbers, texts, flags, enumerations, a Hash128, or a list of tokens.
#pragma once

#include <string_view>

#include "runtime/Plan/Round.h"

namespace vime::plan {

/// `Settings`: RoundSettings, const or not.
template <typename Settings, typename Visit> void visitRound(Settings &round, Visit visit) {
  auto &rollout = round.rollout;
  visit("engines", rollout.engines);
  visit("steps", rollout.steps);
  visit("prompts", rollout.prompts);
  visit("candidates", rollout.candidates);
  visit("samples", rollout.samples);
  visit("max_prompt", rollout.maxPrompt);
  visit("max_new", rollout.maxNew);
  visit("slots", rollout.slots);
  visit("step_tokens", rollout.stepTokens);
  visit("temperature", rollout.sampling.temperature);
  visit("top_p", rollout.sampling.topP);
  visit("top_k", rollout.sampling.topK);
  visit("stops", rollout.stops);
  visit("drops_equal_rewards", rollout.dropsEqualRewards);
  visit("dump", rollout.dump);
  visit("file", round.prompts.file);
  visit("file_bytes", round.prompts.bytes);
  visit("file_hash", round.prompts.hash);
  auto &reward = round.reward;
  visit("reward", reward.kind);
  visit("reward_of", reward.what);
  visit("timeout_seconds", reward.timeoutSeconds);
  visit("retries", reward.retries);
  visit("workers", reward.workers);
  visit("min_workers", reward.minWorkers);
  auto &algorithm = round.algorithm;
  visit("advantage", algorithm.advantage);
  visit("objective", algorithm.objective);
  visit("unit", algorithm.unit);
  visit("clip_low", algorithm.clipLow);
  visit("clip_high", algorithm.clipHigh);
  visit("dual_clip", algorithm.dualClip);
  visit("kl", algorithm.klCoefficient);
  visit("kl_in_reward", algorithm.klInReward);
  visit("kl_estimator", algorithm.klEstimator);
  visit("entropy", algorithm.entropy);
  visit("correction", algorithm.correction);
  visit("correction_low", algorithm.correctionLow);
  visit("correction_high", algorithm.correctionHigh);
  visit("bucket", round.sync.bucket);
  auto &held = round.evaluation;
  visit("held_out", held.prompts.file);
  visit("held_out_bytes", held.prompts.bytes);
  visit("held_out_hash", held.prompts.hash);
  visit("held_out_every", held.every);
  visit("held_out_count", held.count);
  visit("held_out_samples", held.samples);
  visit("held_out_temperature", held.sampling.temperature);
  visit("held_out_top_p", held.sampling.topP);
  visit("held_out_top_k", held.sampling.topK);
}

} // namespace vime::plan
