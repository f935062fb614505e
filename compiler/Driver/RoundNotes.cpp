#include "compiler/Driver/RoundNotes.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Base/Counted.h"

namespace vime {
namespace {

std::string ofOneRound(const Job &job) {
  const std::uint64_t drawn = candidatesOf(job), trained = job.batch.prompts.value,
                      samples = job.batch.samplesPerPrompt.value;
  const std::string choice =
      drawn == trained ? "them" : "those to " + std::to_string(trained) + " of these";
  return fmt::format("a round generates {} to {} and trains {} on {}",
                     counted(drawn * samples, "response"), counted(drawn, "prompt"),
                     counted(stepsOfRound(job), "step"), choice);
}

std::string ofOneEngine(const Job &job) {
  const std::uint64_t engines = job.rolloutRole.ranks.value,
                      most = (candidatesOf(job) + engines - 1) / engines *
                             job.batch.samplesPerPrompt.value,
                      slots = std::min<std::uint64_t>(job.rollout.slots.value, most);
  return fmt::format("an engine generates up to {}, {} at a time", counted(most, "response"),
                     slots == most ? "all" : std::to_string(slots));
}

} // namespace

std::vector<std::string> notesOnRounds(const Job &job) {
  if (!hasRounds(job))
    return {};
  std::vector<std::string> notes = {ofOneRound(job), ofOneEngine(job)};
  if (job.algorithm.loss.value == "cispo" && job.algorithm.clipLow.value < 1)
    notes.push_back(fmt::format("`cispo` keeps ratios above {:g}; `clip: [1, {:g}]` has no lower "
                                "bound, as its paper has it",
                                1 - job.algorithm.clipLow.value, job.algorithm.clipHigh.value));
  return notes;
}

} // namespace vime
