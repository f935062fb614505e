// GatherSamples: the samples of all engines, checked and in one order.
//
//   StatusOr<std::vector<const std::byte *>> records = gatherSamples(settings, prompts, {.draws =
//       rollout.candidates, .samples = rollout.samples, .version = 3}, samples);
//   (*records)[draw * rollout.samples + sample]     // plan::SampleRecord and its parts
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Rollout/RoundReport.h"

namespace vime {

/// What was asked for.
struct AskedSamples {
  std::uint64_t firstDraw = 0;
  std::uint32_t draws = 0, samples = 0; // of each draw
  std::vector<std::uint64_t> prompts;   // of each draw
  std::int64_t version = 0;
  bool isEvaluation = false;
};
AskedSamples askedByRound(const plan::RoundSettings &settings, const PromptFile &prompts,
                          std::uint64_t seed, std::uint64_t round);
AskedSamples askedByEvaluation(const plan::RoundSettings &settings, std::int64_t version);

/// Unacceptable: a sample that is missing, that is there twice, that nobody asked for, or that
/// cannot be what an engine generated for its prompt.
StatusOr<std::vector<const std::byte *>> gatherSamples(const plan::RoundSettings &settings,
                                                       const PromptFile &prompts,
                                                       const AskedSamples &asked,
                                                       const std::byte *samples);

EngineSeconds engineSeconds(const plan::RoundSettings &settings, const std::byte *samples);
ResponseCounts countResponses(const std::vector<const std::byte *> &records);

} // namespace vime
