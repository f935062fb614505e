// checkBatch: J over what a step and an evaluation take from their texts: samples, microbatches,
// tokens.
#include <fmt/format.h>

#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/Rules.h"
#include "schedules/Limits.h"

namespace vime {

namespace {

constexpr std::uint64_t kMostTokens = 1 << 24;     // of a microbatch
constexpr std::uint64_t kMostStepTokens = 1 << 29; // of a step: tokens travel in one message

bool isCounted(const Draft &draft) {
  return draft.isKnown("pipeline.microbatch") && !isPacked(draft.job);
}

std::uint64_t microbatchTokens(const Job &job) {
  const std::uint64_t count = job.pipeline.microbatch.value.count;
  return isPacked(job) ? count : count * job.data.sequence.value;
}

void checkMicrobatchTokens(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t sequence = job.data.sequence.value;
  if (!isCounted(draft) || !draft.isKnown("data.sequence") || microbatchTokens(job) <= kMostTokens)
    return;
  draft
      .error(JobCode::MicrobatchTokens,
             "a microbatch of " + counted(microbatchTokens(job), "token") + ", at most " +
                 text(kMostTokens) + " are possible",
             job.pipeline.microbatch.span,
             counted(job.pipeline.microbatch.value.count, "sample") + " of " +
                 counted(sequence, "token"))
      .withHelp("use at most " + counted(kMostTokens / sequence, "sample") +
                " and more microbatches");
}

// A sample is never split.
void checkRoomForSample(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"pipeline.microbatch", "data.sequence"}) || !isPacked(job) ||
      job.pipeline.microbatch.value.count >= job.data.sequence.value)
    return;
  draft
      .error(JobCode::MicrobatchTokens,
             "a microbatch of " + counted(job.pipeline.microbatch.value.count, "token") +
                 " has no room for a sample of " + text(job.data.sequence.value),
             job.pipeline.microbatch.span)
      .note("a sample may have so many", job.data.sequence.span)
      .withHelp("use at least " + counted(job.data.sequence.value, "token"));
}

void checkStepTokens(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t microbatches = job.pipeline.microbatches.value;
  if (!draft.areKnown({"pipeline.microbatches", "pipeline.microbatch", "data.sequence"}))
    return;
  const std::uint64_t tokens = microbatchTokens(job);
  if (tokens > kMostTokens || microbatches * tokens <= kMostStepTokens)
    return;
  draft
      .error(JobCode::StepTokens,
             "a step of " + counted(microbatches * tokens, "token") + ", at most " +
                 text(kMostStepTokens) + " are possible",
             job.pipeline.microbatches.span,
             counted(microbatches, "microbatch") + " of " + counted(tokens, "token"))
      .withHelp("use at most " + text(kMostStepTokens / tokens) + " microbatches of this size");
}

// Where both are stated, and no text says how many microbatches there are.
void checkBatchSize(Draft &draft) {
  const Job &job = draft.job;
  if (!isCounted(draft) || !draft.isStated("batch.global") ||
      !draft.areKnown({"batch.global", "pipeline.microbatches", "roles.actor.parallel.dp"}))
    return;
  const std::uint64_t samples = job.pipeline.microbatch.value.count,
                      microbatches = job.pipeline.microbatches.value,
                      replicas = job.actor.data.value;
  const std::uint64_t batch = samples * microbatches * replicas;
  if (batch == job.batch.global.value)
    return;
  const std::string ofReplicas = replicas > 1 ? " in each of " + counted(replicas, "replica") : "";
  draft
      .error(JobCode::BatchSize,
             counted(microbatches, "microbatch") + " of " + counted(samples, "sample") +
                 ofReplicas + " are " + text(batch) + ", not " + text(job.batch.global.value),
             job.batch.global.span)
      .note("the size of a microbatch", job.pipeline.microbatch.span)
      .withHelp(draft.isStated("pipeline.microbatches")
                    ? "leave one of `batch.global` and `pipeline.microbatches` out"
                    : "use " + text(batch) + " or another multiple of " + text(samples * replicas));
}

void checkEvaluationBatch(Draft &draft) {
  const Job &job = draft.job;
  const auto &held = job.evaluation;
  if (!isCounted(draft) || !draft.areKnown({"eval.samples", "eval.microbatches"}))
    return;
  const std::uint64_t samples = job.pipeline.microbatch.value.count;
  if ((held.samples.value + samples - 1) / samples == held.microbatches.value)
    return;
  draft
      .error(JobCode::BatchSize,
             counted(held.samples.value, "sample") + " are not " +
                 counted(held.microbatches.value, "microbatch") + " of " + text(samples),
             held.samples.span)
      .note("the size of a microbatch", job.pipeline.microbatch.span)
      .withHelp("leave one of `eval.samples` and `eval.microbatches` out");
}

void checkEvaluationTokens(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"eval.text", "pipeline.microbatches", "pipeline.microbatch", "data.sequence",
                       "batch.global", "roles.actor.parallel.dp"}) ||
      draft.isSpoiled("eval.microbatches") || draft.isSpoiled("eval.samples"))
    return;
  const std::uint64_t tokens = microbatchTokens(job), slices = slicesOf(job),
                      microbatches = evaluationMicrobatches(job) / slices;
  const SourceSpan &at = draft.isKnown("eval.microbatches") ? job.evaluation.microbatches.span
                         : draft.isKnown("eval.samples")    ? job.evaluation.samples.span
                                                            : job.evaluation.text.span;
  if (tokens > kMostTokens ||
      (microbatches * slices <= kMaxMicrobatches && microbatches * tokens <= kMostStepTokens))
    return;
  const std::uint64_t most =
      std::min<std::uint64_t>(kMostStepTokens / tokens, kMaxMicrobatches / slices);
  draft
      .error(JobCode::StepTokens,
             "an evaluation of " + counted(microbatches * tokens, "token") + ", at most " +
                 text(most * tokens) + " are possible",
             at, counted(microbatches, "microbatch") + " of " + counted(tokens, "token"))
      .withHelp("use at most " + counted(most, "microbatch"));
}

} // namespace

void checkBatch(Draft &draft) {
  checkMicrobatchTokens(draft);
  checkRoomForSample(draft);
  checkStepTokens(draft);
  checkBatchSize(draft);
  checkEvaluationBatch(draft);
  checkEvaluationTokens(draft);
}

} // namespace vime
