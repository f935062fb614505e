// Rules about what varies from step to step: the learning rate and evaluations.
#include <fmt/format.h>

#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Rules.h"

namespace vime {

namespace {

constexpr std::uint64_t kMostStepTokens = 1 << 29; // tokens travel in one message

void checkWarmup(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t warmup = job.optimizer.warmup.value, steps = job.run.steps.value;
  if (!draft.areKnown({"optimizer.warmup", "run.steps"}) || warmup <= steps)
    return;
  draft
      .error(JobCode::Range,
             "the learning rate rises for " + counted(warmup, "step") + ", the run has " +
                 text(steps),
             job.optimizer.warmup.span, "longer than the run")
      .note("the run ends here", job.run.steps.span)
      .withHelp("use at most " + counted(steps, "step"));
}

void checkFloor(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"optimizer.floor", "optimizer.lr"}) ||
      job.optimizer.floor.value <= job.optimizer.learningRate.value)
    return;
  draft
      .error(JobCode::Range,
             fmt::format("the learning rate cannot fall to {}, it is {}", job.optimizer.floor.value,
                         job.optimizer.learningRate.value),
             job.optimizer.floor.span, "above the learning rate")
      .note("from here it falls", job.optimizer.learningRate.span)
      .withHelp("use a floor below `optimizer.lr`");
}

/// A floor without a decay would be read and do nothing.
void checkDecay(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"optimizer.floor", "optimizer.decay"}) || job.optimizer.floor.value == 0 ||
      job.optimizer.decay.value != "constant")
    return;
  draft
      .error(JobCode::UnusedValue, "`optimizer.floor` has no use: the learning rate does not fall",
             job.optimizer.floor.span)
      .withHelp("add `decay: linear` or `decay: cosine`, or leave the floor out");
}

/// A section that says how to evaluate says what and when.
void checkEvaluation(Draft &draft) {
  if (!draft.isStated("eval") || draft.isSpoiled("eval"))
    return;
  for (const std::string path : {"eval.text", "eval.every"})
    if (!draft.isKnown(path) && !draft.isSpoiled(path))
      draft
          .error(JobCode::MissingKey, '`' + path + "` is missing", draft.keySpan("eval"),
                 "lacks `" + path.substr(path.find('.') + 1) + '`')
          .note('`' + path + "` says: " + std::string(findField(path)->sentence));
}

void checkEvaluationTokens(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"eval.microbatches", "pipeline.microbatch", "data.sequence"}))
    return;
  const std::uint64_t tokens = std::uint64_t{job.pipeline.samples.value} * job.data.sequence.value;
  const std::uint64_t microbatches = job.evaluation.microbatches.value;
  if (microbatches * tokens <= kMostStepTokens || tokens > kMostStepTokens)
    return;
  draft
      .error(JobCode::StepTokens,
             "an evaluation of " + counted(microbatches * tokens, "token") + ", at most " +
                 text(kMostStepTokens) + " are possible",
             job.evaluation.microbatches.span,
             counted(microbatches, "microbatch") + " of " + counted(tokens, "token"))
      .withHelp("use at most " + text(kMostStepTokens / tokens) + " microbatches");
}

/// Replicas would have to share the samples of an evaluation, or those of a short step, unevenly.
void checkReplicas(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.isKnown("roles.actor.parallel.dp") || job.actor.data.value == 1)
    return;
  if (draft.isKnown("eval.text"))
    draft
        .error(JobCode::LaterValue, "evaluation with replicas is not there yet",
               job.evaluation.text.span)
        .note("these are the replicas", job.actor.data.span);
  if (draft.isKnown("data.tail") && job.data.tail.value == "short")
    draft
        .error(JobCode::LaterValue, "short steps with replicas are not there yet",
               job.data.tail.span)
        .note("these are the replicas", job.actor.data.span)
        .withHelp("use `join` or `drop`");
}

} // namespace

void checkVariation(Draft &draft) {
  checkReplicas(draft);
  checkWarmup(draft);
  checkFloor(draft);
  checkDecay(draft);
  checkEvaluation(draft);
  checkEvaluationTokens(draft);
}

} // namespace vime
