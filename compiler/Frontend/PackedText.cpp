#include "compiler/Frontend/PackedText.h"

#include <fmt/format.h>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Rules.h"
#include "compiler/Frontend/StepNeeds.h"
#include "schedules/Limits.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

constexpr const char *kMicrobatches = "pipeline.microbatches";

std::optional<TextDataset> open(Draft &draft, const Field<std::string> &text,
                                const BatchShape &shape) {
  StatusOr<TextDataset> opened =
      TextDataset::open(pathFromJob(draft.job.file, text.value), shape, draft.job.run.seed.value);
  if (opened.ok())
    return std::move(*opened);
  if (opened.status().code() == StatusCode::File)
    draft.error(JobCode::TextUnreadable, opened.status().message(), text.span)
        .withHelp("a relative path counts from the folder of the job file");
  else
    draft.error(JobCode::TextTooShort, opened.status().message(), text.span)
        .withHelp("take fewer samples at once, or a longer text");
  return std::nullopt;
}

/// Orders may want a multiple of something: then some microbatches are always empty.
std::uint64_t leastOfOrder(const Job &job, std::uint32_t needed) {
  constexpr std::uint32_t kFurther = 4096;
  const Order *order = findOrder(job.pipeline.schedule.value);
  ScheduleShape shape = shapeOf(job);
  for (std::uint32_t more = 0; order && more < kFurther; ++more) {
    shape.microbatches = static_cast<int>(needed + more);
    if (!check(*order, shape))
      return needed + more;
  }
  return needed; // the rules tell what is wrong
}

void tooFew(Draft &draft, TextDataset &text, const StepNeeds &needs) {
  const Job &job = draft.job;
  const std::uint32_t stated = job.pipeline.microbatches.value, needed = needs.microbatches.back();
  const std::string each = job.actor.data.value > 1 ? " in each replica" : "";
  Finding &finding =
      draft.error(JobCode::PackedSteps,
                  needs.isBound ? fmt::format("steps may need {} microbatches{}, there are {}",
                                              needed, each, stated)
                                : fmt::format("step {} needs {} microbatches{}, there are {}",
                                              needs.step, needed, each, stated),
                  job.pipeline.microbatches.span);
  if (needs.isBound) {
    finding.note("the run is too long to pack every step; this number suffices for any");
  } else {
    text.begin(needs.step);
    const TextSample sample = text.firstSampleOf(stated * job.actor.data.value);
    finding.note(fmt::format("the sample of {} at byte {} of the text is the first without room",
                             counted(sample.tokens, "token"), sample.first),
                 job.data.text.span);
  }
  finding.withHelp(fmt::format("use {} microbatches, or larger ones", needed));
}

void storeMicrobatches(Draft &draft, std::uint32_t needed, std::string from) {
  const Job &job = draft.job;
  if (draft.isSpoiled(kMicrobatches) ||
      !draft.areKnown({"pipeline.schedule", "pipeline.chunks", "roles.actor.parallel.pp"}))
    return draft.spoil(kMicrobatches);
  const std::uint64_t microbatches = leastOfOrder(job, needed);
  const FieldSpec &field = *findField(kMicrobatches);
  if (microbatches > static_cast<std::uint64_t>(field.most)) {
    draft
        .error(JobCode::PackedSteps,
               fmt::format("a step of {} microbatches, at most {} are possible", microbatches,
                           field.most),
               job.batch.global.span)
        .withHelp("take fewer samples at once, or larger microbatches");
    return draft.spoil(kMicrobatches);
  }
  draft.store(
      field, kMicrobatches, microbatches,
      {.kind = OriginKind::Derived, .span = job.pipeline.microbatch.span, .from = std::move(from)});
}

void packSteps(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"data.text", "data.sequence", "data.split", "data.tail", "batch.global",
                       "roles.actor.parallel.dp", "run.steps", "run.seed"}) ||
      job.pipeline.microbatch.value.count < job.data.sequence.value)
    return draft.spoil(kMicrobatches);
  std::optional<TextDataset> text = open(draft, job.data.text, batchShapeOf(job));
  if (!text)
    return draft.spoil(kMicrobatches);
  const StepNeeds needs = needsOf(*text, job.run.steps.value, job.actor.data.value);
  draft.job.packedSteps = needs.microbatches;
  const std::uint32_t needed = needs.microbatches.back();
  if (draft.isKnown(kMicrobatches)) {
    if (job.pipeline.microbatches.value < needed)
      tooFew(draft, *text, needs);
    return;
  }
  storeMicrobatches(draft, needed, "data.text, batch.global, pipeline.microbatch");
}

// How long its samples are nobody knows before they are there.
void packRounds(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"data.sequence", "batch.global", "roles.actor.parallel.dp"}) ||
      job.pipeline.microbatch.value.count < job.data.sequence.value)
    return draft.spoil(kMicrobatches);
  const auto needed = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(mostPackedMicrobatches(job), kMaxMicrobatches + 1));
  if (!draft.isKnown(kMicrobatches))
    return storeMicrobatches(draft, needed,
                             "batch.global, pipeline.microbatch, data.max_prompt, rollout.max_new");
  if (job.pipeline.microbatches.value < needed)
    draft
        .error(JobCode::PackedSteps,
               fmt::format("steps may need {} microbatches{}, there are {}", needed,
                           job.actor.data.value > 1 ? " in each replica" : "",
                           job.pipeline.microbatches.value),
               job.pipeline.microbatches.span)
        .note(fmt::format("a sample may have {} tokens, {} of them fit into a microbatch",
                          job.data.sequence.value,
                          job.pipeline.microbatch.value.count / job.data.sequence.value),
              job.pipeline.microbatch.span)
        .withHelp("leave `pipeline.microbatches` out, or use larger ones");
}

void packEvaluation(Draft &draft) {
  constexpr const char *kOfEvaluation = "eval.microbatches";
  const Job &job = draft.job;
  if (!draft.areKnown({"eval.text", "data.sequence", "data.split", "data.tail", "batch.global"}) ||
      job.pipeline.microbatch.value.count < job.data.sequence.value ||
      draft.isSpoiled(kOfEvaluation) || draft.isSpoiled("eval.samples"))
    return;
  std::optional<TextDataset> text = open(draft, job.evaluation.text, heldOutShapeOf(job));
  if (!text)
    return draft.spoil(kOfEvaluation);
  text->begin(0);
  const std::uint32_t needed = text->microbatches(), stated = job.evaluation.microbatches.value;
  if (!draft.isKnown(kOfEvaluation))
    return draft.store(*findField(kOfEvaluation), kOfEvaluation, std::uint64_t{needed},
                       {.kind = OriginKind::Derived,
                        .span = job.evaluation.text.span,
                        .from = "eval.text, pipeline.microbatch"});
  if (stated < needed)
    draft
        .error(JobCode::PackedSteps,
               fmt::format("an evaluation of {} needs {}, there are {}",
                           counted(evaluationBatch(job), "sample"), counted(needed, "microbatch"),
                           stated),
               job.evaluation.microbatches.span)
        .withHelp("leave `eval.microbatches` out, or use at least " + std::to_string(needed));
}

} // namespace

void packTextsOf(Draft &draft) {
  if (!draft.isKnown("pipeline.microbatch") || !isPacked(draft.job))
    return;
  if (draft.hasRounds())
    return packRounds(draft);
  packSteps(draft);
  packEvaluation(draft);
}

} // namespace vime
