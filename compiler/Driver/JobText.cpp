#include "compiler/Driver/JobText.h"

#include <fmt/format.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/ReadJob.h"
#include "runtime/Base/FileHash.h"

namespace vime {

std::optional<TextFacts> readTextFacts(const Job &job, Findings &findings) {
  const auto &text = job.data.text;
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
  const std::uint64_t needed = std::uint64_t{job.pipeline.microbatches.value} *
                               job.pipeline.samples.value * job.actor.data.value;
  if (samples < needed) {
    findings
        .error(Rule::J, number(JobCode::TextTooShort),
               fmt::format("text `{}` is too short: its {} bytes hold {} samples of {} tokens, a "
                           "step needs {}",
                           text.value, fingerprint->bytes, samples, window - 1, needed))
        .at(text.span)
        .withHelp(fmt::format("{} bytes are enough for one step", needed * window));
    return std::nullopt;
  }
  return TextFacts{fingerprint->bytes, fingerprint->hash};
}

} // namespace vime
