#include "compiler/Driver/JobText.h"

#include <fmt/format.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "runtime/Base/FileHash.h"
#include "runtime/Data/PromptFile.h"

namespace vime {

namespace {

struct ReadText {
  FileFingerprint fingerprint;
  std::uint64_t samples = 0;
};

/// The text that a key names; it must hold the samples of one pass (`a step`).
std::optional<ReadText> readText(const Job &job, const Field<std::string> &text,
                                 const BatchShape &shape, std::string_view pass,
                                 Findings &findings) {
  const std::string path = pathFromJob(job.file, text.value);
  const StatusOr<FileFingerprint> fingerprint = hashFile(path);
  const auto file = TextFile::open(path);
  if (!fingerprint.ok() || !file.ok()) {
    findings
        .error(Rule::J, number(JobCode::TextUnreadable),
               (fingerprint.ok() ? file.status() : fingerprint.status()).message())
        .at(text.span)
        .withHelp("a relative path counts from the folder of the job file");
    return std::nullopt;
  }
  const bool isWindow = shape.split == plan::Split::Window;
  const std::uint64_t samples =
      TextSamples::cut((*file)->bytes(), shape.split, shape.sequence).count();
  if (samples >= shape.batch)
    return ReadText{*fingerprint, samples};
  Finding &finding =
      findings
          .error(Rule::J, number(JobCode::TextTooShort),
                 fmt::format("text `{}` is too short: its {} bytes hold {} samples of {}{} tokens, "
                             "{} needs {}",
                             text.value, fingerprint->bytes, samples, isWindow ? "" : "up to ",
                             shape.sequence, pass, shape.batch))
          .at(text.span);
  // A sample is a window of the text: its tokens, and one byte more for the last label.
  const std::uint64_t window = std::uint64_t{shape.sequence} + 1;
  finding.withHelp(isWindow ? fmt::format("{} bytes are enough for one {}", shape.batch * window,
                                          pass.substr(pass.find(' ') + 1))
                            : "take fewer samples at once, or a longer text");
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

/// The prompts that a key names: each must be short enough, and have what its reward needs.
std::optional<FileFingerprint> readPrompts(const Job &job, const Field<std::string> &file,
                                           std::uint64_t least, Findings &findings) {
  const std::uint32_t vocabulary = job.model(job.actor.model.value)->config.vocab;
  const StatusOr<PromptFile> prompts = PromptFile::open(
      pathFromJob(job.file, file.value), promptLimits(roundSettings(job, {}), vocabulary));
  if (prompts.ok() && prompts->count() >= least)
    return prompts->fingerprint();
  if (prompts.ok()) {
    findings
        .error(Rule::J, number(JobCode::PromptsUnreadable),
               fmt::format("an evaluation takes {} prompts, `{}` has {}", least, file.value,
                           prompts->count()))
        .at(file.span)
        .withHelp(fmt::format("use `count: {}`, or more prompts", prompts->count()));
    return std::nullopt;
  }
  constexpr std::string_view kHelp = "\nhelp: "; // what is wrong with a line may come with one
  const std::string &said = prompts.status().message();
  const std::size_t end = std::min(said.find(kHelp), said.size());
  const std::string help = end != said.size() ? said.substr(end + kHelp.size())
                           : prompts.status().code() == StatusCode::File
                               ? "a relative path counts from the folder of the job file"
                               : "a line is `{\"prompt\": \"12+7=\", \"answer\": \"19\"}`";
  findings.error(Rule::J, number(JobCode::PromptsUnreadable), said.substr(0, end))
      .at(file.span)
      .withHelp(help);
  return std::nullopt;
}

std::optional<RoundFacts> readRoundFacts(const Job &job, Findings &findings) {
  const bool evaluates = !job.evaluation.prompts.value.empty();
  const auto prompts = readPrompts(job, job.data.prompts, 1, findings);
  const auto heldOut =
      evaluates ? readPrompts(job, job.evaluation.prompts, job.evaluation.count.value, findings)
                : FileFingerprint();
  return prompts && heldOut ? std::optional(RoundFacts{*prompts, *heldOut}) : std::nullopt;
}

} // namespace

std::optional<TextFacts> readTextFacts(const Job &job, Findings &findings) {
  if (hasRounds(job)) {
    const std::optional<RoundFacts> round = readRoundFacts(job, findings);
    return round ? std::optional(TextFacts{.round = *round}) : std::nullopt;
  }
  const auto text = readText(job, job.data.text, batchShapeOf(job), "a step", findings);
  std::optional<ReadText> heldOut;
  if (evaluationMicrobatches(job) != 0) {
    heldOut = readText(job, job.evaluation.text, heldOutShapeOf(job), "an evaluation", findings);
    if (!heldOut)
      return std::nullopt;
  }
  const std::optional<plan::Hash128> module = readModule(job, findings);
  if (!text || !module)
    return std::nullopt;
  TextFacts facts{
      .bytes = text->fingerprint.bytes, .hash = text->fingerprint.hash, .moduleHash = *module};
  facts.samples = text->samples;
  if (heldOut) {
    facts.heldOutBytes = heldOut->fingerprint.bytes;
    facts.heldOutHash = heldOut->fingerprint.hash;
  }
  return facts;
}

} // namespace vime
