#include "compiler/Driver/TextNotes.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Rules.h"
#include "runtime/Data/TextFile.h"

namespace vime {
namespace {

std::string noteOnSamples(const std::string &name, const TextSamples &samples) {
  std::uint32_t shortest = ~0u, longest = 0;
  for (std::uint64_t sample = 0; sample < samples.count(); ++sample) {
    shortest = std::min(shortest, samples.at(sample).tokens);
    longest = std::max(longest, samples.at(sample).tokens);
  }
  const std::string left =
      samples.leftOut() == 0
          ? ""
          : fmt::format("; {} in none: empty lines, and what has one byte alone",
                        samples.leftOut() == 1 ? "1 byte is"
                                               : fmt::format("{} bytes are", samples.leftOut()));
  return fmt::format("`{}` has {} of {} to {} tokens{}", name, counted(samples.count(), "sample"),
                     shortest, longest, left);
}

} // namespace

std::vector<std::string> notesOnText(const Job &job) {
  std::vector<std::string> notes;
  const BatchShape shape = batchShapeOf(job);
  for (const std::string &name : {job.data.text.value, job.evaluation.text.value}) {
    if (shape.split == plan::Split::Window || name.empty())
      continue;
    if (const auto file = TextFile::open(pathFromJob(job.file, name)); file.ok())
      notes.push_back(
          noteOnSamples(name, TextSamples::cut((*file)->bytes(), shape.split, shape.sequence)));
  }
  const std::vector<std::uint32_t> &counts = job.packedSteps;
  if (!counts.empty())
    notes.push_back(fmt::format(
        "a step of {} has {} microbatches of at most {}{}", counted(shape.batch, "sample"),
        counts.size() == 1 ? fmt::format("{}", counts.front())
                           : fmt::format("{} to {}", counts.front(), counts.back()),
        counted(shape.room.tokens, "token"), job.actor.data.value > 1 ? " in each replica" : ""));
  return notes;
}

} // namespace vime
