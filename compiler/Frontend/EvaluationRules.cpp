// Rules about what varies from step to step: the learning rate and evaluations.
#include <fmt/format.h>

#include "compiler/Frontend/Draft.h"
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
  for (const std::string path : {"eval.text", "eval.every"})
    if (!draft.isKnown(path) && !draft.isSpoiled(path))
      draft
          .error(JobCode::MissingKey, '`' + path + "` is missing", draft.keySpan("eval"),
                 "lacks `" + path.substr(path.find('.') + 1) + '`')
          .note('`' + path + "` says: " + std::string(findField(path)->sentence));
}

} // namespace

void checkVariation(Draft &draft) {
  checkWarmup(draft);
  checkFloor(draft);
  checkDecay(draft);
  checkEvaluation(draft);
}

} // namespace vime
