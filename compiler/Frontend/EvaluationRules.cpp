// Rules about what varies from step to step: the learning rate, evaluations, and when the optimizer
// commits.
#include <fmt/format.h>

#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/Rules.h"

namespace vime {

namespace {

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
  for (const std::string path : {draft.hasRounds() ? "eval.prompts" : "eval.text", "eval.every"})
    if (!draft.isKnown(path) && !draft.isSpoiled(path) &&
        !(path == "eval.prompts" && draft.isStated("eval.text")))
      draft
          .error(JobCode::MissingKey, '`' + path + "` is missing", draft.keySpan("eval"),
                 "lacks `" + path.substr(path.find('.') + 1) + '`')
          .note('`' + path + "` says: " + std::string(findField(path)->sentence));
}

constexpr const char *kBarrierHelp = "write `commit: barrier`, which is the default";

/// What the optimizer cannot do early yet.
void checkEarlyCommit(Draft &draft) {
  const Job &job = draft.job;
  const auto refuse = [&](std::string what, std::string label, const SourceSpan &where,
                          std::string note) {
    draft
        .error(JobCode::LaterValue,
               "`optimizer.commit` asks for something vime cannot do yet: `post_validated` " + what,
               job.optimizer.commit.span, std::move(label))
        .note(std::move(note), where)
        .withHelp(kBarrierHelp);
  };
  if (draft.isKnown("data.tail") && job.data.tail.value == "short")
    refuse("with steps of fewer microbatches", "takes steps of one size", job.data.tail.span,
           "the last step of an epoch is shorter");
  if (draft.isKnown("pipeline.microbatch") && isPacked(job))
    refuse("with packed samples", "takes steps of one size", job.pipeline.microbatch.span,
           "microbatches are counted in tokens");
  if (draft.isKnown("pipeline.slices") && job.pipeline.slices.value > 1)
    refuse("with samples in slices", "takes whole samples", job.pipeline.slices.span,
           "samples are cut into slices");
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (model && model->config.tiedHead)
    refuse("with a tied head", "has no copy of a tied matrix to take back", model->span,
           "the head of this model is tied");
}

/// Where no step is followed by the next one at once, nothing would be gained.
void checkEarlyCommitUsed(Draft &draft) {
  const Job &job = draft.job;
  const auto unused = [&](std::string why, const SourceSpan &where) {
    draft
        .error(JobCode::UnusedValue, "`optimizer.commit` has no use: " + why,
               job.optimizer.commit.span)
        .note("which is stated here", where)
        .withHelp(kBarrierHelp);
  };
  if (draft.isKnown("run.steps") && job.run.steps.value == 1)
    unused("no step follows the only one", job.run.steps.span);
  else if (draft.isKnown("eval.every") && job.evaluation.every.value == 1)
    unused("an evaluation stands behind every step", job.evaluation.every.span);
  else if (draft.isKnown("checkpoint.every") && job.checkpoint.every.value == 1)
    unused("a checkpoint stands behind every step", job.checkpoint.every.span);
}

} // namespace

void checkVariation(Draft &draft) {
  checkWarmup(draft);
  checkFloor(draft);
  checkDecay(draft);
  checkEvaluation(draft);
  if (!draft.isKnown("optimizer.commit") || draft.job.optimizer.commit.value != "post_validated")
    return;
  checkEarlyCommit(draft);
  checkEarlyCommitUsed(draft);
}

} // namespace vime
