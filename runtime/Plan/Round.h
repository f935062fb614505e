// Round: what a plan says of rounds: prompts, generation, rewards, the algorithm, weight sync.
//
// A round is a rollout, then `RolloutSettings::steps` optimizer steps on its samples. Before each
// rollout the engines get the weights of the moment under the next version. Rounds are steps in
// which Decision::Rollout holds; whatever trains stands in a step as it does for a text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Plan/Hash.h"

namespace vime::plan {

/// A file of prompts, one a line (runtime/Data/PromptFile.h).
struct PromptSettings {
  std::string file; // path as the job states it; empty: none
  std::uint64_t bytes = 0;
  Hash128 hash{};
  bool operator==(const PromptSettings &) const = default;
};

struct SamplingSettings {
  double temperature = 1; // 0: the likeliest token
  double topP = 1;        // 1: all tokens
  std::uint32_t topK = 0; // 0: all tokens
  bool operator==(const SamplingSettings &) const = default;
};

struct RolloutSettings {
  std::uint32_t engines = 0;    // ranks that generate, behind those that train; 0: no rounds
  std::uint32_t steps = 1;      // of a round
  std::uint32_t prompts = 0;    // whose samples a round trains on
  std::uint32_t candidates = 0; // prompts that a round generates for, at least `prompts`
  std::uint32_t samples = 0;    // of a prompt
  std::uint32_t maxPrompt = 0;  // tokens
  std::uint32_t maxNew = 0;     // tokens of a response
  std::uint32_t slots = 0;      // sequences of an engine at a time
  std::uint32_t stepTokens = 0; // that an engine's step takes, at least one for each slot
  SamplingSettings sampling;
  std::vector<std::uint32_t> stops; // tokens that end a response
  /// Groups whose rewards are all equal give way to others, as long as there are candidates.
  bool dropsEqualRewards = false;
  std::string dump; // folder for what is generated, as the job states it; empty: none
  bool operator==(const RolloutSettings &) const = default;
  /// Tokens of the longest sequence.
  constexpr std::uint32_t rows() const { return maxPrompt + maxNew; }
};

enum class RewardKind : std::uint8_t { ExactAnswer, Numeric, Regex, Format, Command, Http };

struct RewardSettings {
  RewardKind kind = RewardKind::ExactAnswer;
  std::string what;           // pattern, command or address, as the job states it
  double timeoutSeconds = 60; // of one answer
  std::uint32_t retries = 2;
  std::uint32_t workers = 1, minWorkers = 1;
  bool operator==(const RewardSettings &) const = default;
};

/// How a sample's rewards become advantages (runtime/Policy/README.md).
enum class AdvantageRule : std::uint8_t {
  Grpo,
  DrGrpo,
  Rloo,
  ReinforcePlusPlus,
  ReinforcePlusPlusBaseline
};
enum class PolicyObjective : std::uint8_t { PpoClip, Gspo, Cispo, Reinforce };
enum class LossUnit : std::uint8_t { Token, Sequence, Rollout, Prompt, Constant };
enum class KlEstimator : std::uint8_t { K1, K2, K3 };
enum class Correction : std::uint8_t { None, Truncated, IcePop };

struct AlgorithmSettings {
  AdvantageRule advantage = AdvantageRule::Grpo;
  PolicyObjective objective = PolicyObjective::PpoClip;
  LossUnit unit = LossUnit::Rollout;
  double clipLow = 0.2, clipHigh = 0.2;
  double dualClip = 0; // more than 1; 0: none
  double klCoefficient = 0;
  bool klInReward = false; // of each token, before its returns; else in the loss
  KlEstimator klEstimator = KlEstimator::K3;
  double entropy = 0; // coefficient
  Correction correction = Correction::None;
  double correctionLow = 0, correctionHigh = 2;
  bool operator==(const AlgorithmSettings &) const = default;
};

struct SyncSettings {
  std::uint64_t bucket = 0; // bytes of a message, at most
  bool operator==(const SyncSettings &) const = default;
};

/// Prompts whose responses are scored and not trained on.
struct PromptEvaluation {
  PromptSettings prompts;    // file empty: none
  std::uint64_t every = 0;   // rounds; the last one is followed by one too
  std::uint32_t count = 0;   // prompts: the first ones
  std::uint32_t samples = 1; // of each
  SamplingSettings sampling;
  bool operator==(const PromptEvaluation &) const = default;
};

struct RoundSettings {
  RolloutSettings rollout;
  PromptSettings prompts;
  RewardSettings reward;
  AlgorithmSettings algorithm;
  SyncSettings sync;
  PromptEvaluation evaluation;
  bool operator==(const RoundSettings &) const = default;
};

/// Prompts of the larger of a rollout and an evaluation, and samples of the larger one on the
/// engine that has most: every engine takes every so many-th prompt.
constexpr std::uint32_t mostPrompts(const RoundSettings &round) {
  return round.rollout.candidates > round.evaluation.count ? round.rollout.candidates
                                                           : round.evaluation.count;
}
constexpr std::uint32_t mostSamplesOfEngine(const RoundSettings &round) {
  if (round.rollout.engines == 0)
    return 0;
  const auto share = [&](std::uint32_t prompts, std::uint32_t samples) {
    return (prompts + round.rollout.engines - 1) / round.rollout.engines * samples;
  };
  const std::uint32_t ofRollout = share(round.rollout.candidates, round.rollout.samples);
  const std::uint32_t ofEvaluation = share(round.evaluation.count, round.evaluation.samples);
  return ofRollout > ofEvaluation ? ofRollout : ofEvaluation;
}

} // namespace vime::plan
