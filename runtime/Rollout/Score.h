// Score: from what the engines generated to what a round trains on.
//
//   StatusOr<ScoredRound> scored = scoreRound({plan.round, prompts, seed, header.round}, *reward,
//                                             allSamples, round);
//   scored->report.rewardMean
//
// Samples are checked (each draw and sample once, none missing, none foreign), ordered by draw and
// sample, and scored. Of over-sampled groups the first ones are taken, in the order of their draws;
// with a filter, groups whose rewards are all equal give way as long as there are others. So what
// is trained on does not depend on the number of engines or on who answered first.
//
// The buffer `round` then holds the chosen samples in that order, with reward, advantage and
// denominator; bytes that mean nothing are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Reward/Reward.h"
#include "runtime/Rollout/RoundReport.h"

namespace vime {

struct RoundSource {
  const plan::RoundSettings &settings;
  const PromptFile &prompts; // of the rollouts, or those held out
  std::uint64_t seed = 0, round = 0;
};

/// A sample in the buffer it came in, and what was made of it.
struct ScoredSample {
  const std::byte *record = nullptr; // plan::SampleRecord and its parts
  double reward = 0;
  bool isTrained = false;
};

struct ScoredRound {
  RoundReport report;
  std::vector<ScoredSample> samples; // of all candidates, by draw and sample
};

/// `samples`: the batches of all engines and, in front of them, the coordinator's empty one:
/// (engines + 1) · samplesBytes. `round` has roundBytes. Unacceptable: samples are not what was
/// asked for.
StatusOr<ScoredRound> scoreRound(const RoundSource &source, Reward &reward,
                                 const std::byte *samples, std::byte *round);

/// `version`: of the weights that were to be evaluated.
StatusOr<EvaluationReport> scoreEvaluation(const RoundSource &source, std::int64_t version,
                                           Reward &reward, const std::byte *samples);

} // namespace vime
