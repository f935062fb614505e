// RoundReport, EvaluationReport: what is to be told of the samples of a round and of an evaluation.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace vime {

/// Of all responses that were generated, also those that are not trained on.
struct ResponseCounts {
  std::uint64_t samples = 0;
  std::uint64_t tokens = 0; // of responses
  std::uint32_t shortest = 0, longest = 0;
  std::uint64_t stopped = 0, cut = 0, aborted = 0; // why they ended; cut: at the longest length
  double meanLength() const {
    return samples == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(samples);
  }
};

/// Of the engine that took longest.
struct EngineSeconds {
  double generation = 0, sync = 0;
};

struct RoundReport {
  std::uint64_t round = 0;
  std::int64_t version = 0; // of the weights that drew all samples
  ResponseCounts responses;
  EngineSeconds seconds;
  double rewardMean = 0, rewardDeviation = 0; // of all responses; the deviation over n - 1
  double trainedRewardMean = 0;               // of those that are trained on
  /// Groups: candidates = trained + dropped + unused; `filled` of the trained ones.
  std::uint32_t candidates = 0, trained = 0;
  std::uint32_t dropped = 0; // rewards all equal, and others took their place
  std::uint32_t filled = 0;  // rewards all equal, but taken, because there were not enough others
  std::uint32_t unused = 0;  // good, but more than a round takes
};

/// A response with a reward of 1 or more counts as right.
struct EvaluationReport {
  std::int64_t version = 0;
  ResponseCounts responses;
  EngineSeconds seconds;
  std::uint32_t prompts = 0, samples = 0; // of each prompt
  double mean = 0;                        // of rewards: mean@samples
  /// pass@k for k = 1, 2, 4, … and `samples`: the chance that one of k responses, drawn from those
  /// of a prompt, is right; the mean over prompts (unbiased, 2107.03374).
  std::vector<std::pair<std::uint32_t, double>> passAt;
};

} // namespace vime
