// RunObserver: who wants to see how a run goes. Told by the coordinator's host lane, once per step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/Plan/StepHeader.h"

namespace vime {

/// What a step of a round did to the policy: means over the tokens that it trains on.
struct PolicyRecord {
  double kl = 0; // to the reference; 0 without one
  double ratio = 0;
  double entropy = 0;                // 0 unless the loss has it
  double clipped = 0, corrected = 0; // shares of the tokens
  double drift = 0; // between the engine's log-probabilities and the trainer's, the largest
  double tokens = 0;
  double seconds = 0; // of the step without its rollout: from its first microbatch to its report
};

/// One optimizer step. Plain bytes: crosses a pipe between processes as it is.
struct StepRecord {
  std::uint64_t step = 0;
  double loss = 0;         // mean over the tokens with a label
  double gradientNorm = 0; // before clipping
  double learningRate = 0;
  std::uint64_t tokens = 0;
  std::uint64_t microbatches = 0;
  std::uint64_t skipped = 0; // 1: the gradients were not finite, no parameter has changed
  std::uint64_t ofRound = 0; // 1: of a plan with rounds
  PolicyRecord policy;       // then
};

/// What a round will be trained on. Plain bytes too.
struct RoundRecord {
  std::uint64_t round = 0;
  std::int64_t version = 0;                // of the weights that drew all samples
  std::uint64_t samples = 0;               // of all candidates, as what follows
  std::uint64_t tokens = 0;                // of responses
  std::uint64_t shortest = 0, longest = 0; // responses
  std::uint64_t stopped = 0, cut = 0, aborted = 0;
  double rewardMean = 0, rewardDeviation = 0;
  double trainedRewardMean = 0; // of those that are trained on
  std::uint64_t candidates = 0, trained = 0, dropped = 0, filled = 0, unused = 0; // groups
  double syncSeconds = 0, generationSeconds = 0; // of the engine that took longest
  double scoreSeconds = 0;
};

/// Held-out prompts, answered by some version of the weights. Plain bytes too.
struct PromptsRecord {
  static constexpr std::size_t kMostPassAt = 32;
  std::uint64_t round = 0;                // in front of which; behind the last one their number
  std::int64_t version = 0;               // of the weights
  std::uint64_t prompts = 0, samples = 0; // of each prompt
  std::uint64_t tokens = 0;               // of responses
  double mean = 0;                        // of rewards
  std::uint64_t passCount = 0;
  std::array<std::uint64_t, kMostPassAt> passOf{}; // k
  std::array<double, kMostPassAt> passAt{};        // pass@k
  double generationSeconds = 0;                    // of the engine that took longest
};

/// Held-out text behind a step. Plain bytes too.
struct EvaluationRecord {
  std::uint64_t step = 0; // the latest one
  double loss = 0;        // mean over the tokens with a label
  std::uint64_t tokens = 0;
  std::uint64_t ends = 0; // 1: the run ends with it, before its last step
};

/// A process whose ranks have ended well.
struct ResidentRecord {
  std::uint32_t first = 0, ranks = 0; // its ranks
  std::uint64_t bytes = 0;            // most that it had resident
};

class RunObserver {
public:
  virtual ~RunObserver() = default;
  /// `ranks`: counters of this step, by rank.
  virtual void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) = 0;
  virtual void evaluated(const EvaluationRecord &) {}
  /// Its samples are there and scored; its steps follow.
  virtual void roundFinished(const RoundRecord &) {}
  virtual void promptsEvaluated(const PromptsRecord &) {}
  virtual void exported() = 0;
  /// A checkpoint behind that many steps can be resumed from now on.
  virtual void saved(std::uint64_t steps) = 0;
  /// Behind everything else, once for each process that tells.
  virtual void measured(const ResidentRecord &) {}
};

} // namespace vime
