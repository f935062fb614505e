// DrawPrompts: which prompts the engines get, as the buffer `prompts` (runtime/Plan/
// RolloutRecords.h).
//
//   drawPrompts(plan.round, prompts, seed, header.round, buffer);
//
// Draw i of round r has the name r · candidates + i, and takes the prompt of that place in the
// permutations of the file; so a prompt comes a second time only when all have come once.
// An evaluation takes the first prompts of its file, always the same ones under the same names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

constexpr std::uint64_t drawOf(const plan::RolloutSettings &rollout, std::uint64_t round,
                               std::uint32_t candidate) {
  return round * rollout.candidates + candidate;
}

/// `buffer` has promptsBytes. InvalidInput: a prompt is longer than the buffer's records.
Status drawPrompts(const plan::RoundSettings &settings, const PromptFile &prompts,
                   std::uint64_t seed, std::uint64_t round, std::byte *buffer);
/// `prompts`: those held out. InvalidInput: the file has fewer than the evaluation asks for.
Status drawEvaluation(const plan::RoundSettings &settings, const PromptFile &prompts,
                      std::byte *buffer);

} // namespace vime
