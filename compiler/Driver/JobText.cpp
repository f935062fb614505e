#include "compiler/Driver/JobText.h"

#include <fmt/format.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/StepFamily.h"
#include "runtime/Base/FileHash.h"

namespace vime {

namespace {

/// The text that a key names; it must hold the samples of one pass (`a step`).
std::optional<FileFingerprint> readText(const Job &job, const Field<std::string> &text,
                                        std::uint64_t microbatches, std::string_view pass,
                                        Findings &findings) {
  const StatusOr<FileFingerprint> fingerprint = hashFile(pathFromJob(job.file, text.value));
  if (!fingerprint.ok()) {
    findings.error(Rule::J, number(JobCode::TextUnreadable), fingerprint.status().message())
        .at(text.span)
        .withHelp("a relative path counts from the folder of the job file");
    return std::nullopt;
  }
  // A sample is a window of the text: its tokens, and one byte more for the last label.
  const std::uint64_t window = std::uint64_t{job.data.sequence.value} + 1;
  const std::uint64_t samples = fingerprint->bytes / window;
  const std::uint64_t needed = microbatches * job.pipeline.samples.value * job.actor.data.value;
  if (samples >= needed)
    return *fingerprint;
  findings
      .error(Rule::J, number(JobCode::TextTooShort),
             fmt::format("text `{}` is too short: its {} bytes hold {} samples of {} tokens, {} "
                         "needs {}",
                         text.value, fingerprint->bytes, samples, window - 1, pass, needed))
      .at(text.span)
      .withHelp(fmt::format("{} bytes are enough for one {}", needed * window,
                            pass.substr(pass.find(' ') + 1)));
  return std::nullopt;
}

/// Of the model's module; of zeros where it has none.
std::optional<plan::Hash128> readModule(const Job &job, Findings &findings) {
  const Field<std::string> &file = job.model(job.actor.model.value)->module;
  if (file.value.empty())
    return plan::Hash128{};
  const StatusOr<FileFingerprint> fingerprint = hashFile(pathFromJob(job.file, file.value));
  if (fingerprint.ok())
    return fingerprint->hash;
  findings.error(Rule::J, number(JobCode::ModuleUnreadable), fingerprint.status().message())
      .at(file.span)
      .withHelp("a relative path counts from the folder of the job file");
  return std::nullopt;
}

} // namespace

std::optional<TextFacts> readTextFacts(const Job &job, Findings &findings) {
  const auto text =
      readText(job, job.data.text, job.pipeline.microbatches.value, "a step", findings);
  std::optional<FileFingerprint> heldOut;
  if (const std::uint32_t microbatches = evaluationMicrobatches(job); microbatches != 0) {
    heldOut = readText(job, job.evaluation.text, microbatches, "an evaluation", findings);
    if (!heldOut)
      return std::nullopt;
  }
  const std::optional<plan::Hash128> module = readModule(job, findings);
  if (!text || !module)
    return std::nullopt;
  TextFacts facts{.bytes = text->bytes, .hash = text->hash, .moduleHash = *module};
  if (heldOut) {
    facts.heldOutBytes = heldOut->bytes;
    facts.heldOutHash = heldOut->hash;
  }
  return facts;
}

} // namespace vime
