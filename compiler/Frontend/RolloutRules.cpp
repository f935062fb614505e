// checkRollout: J over what engines generate, for rounds and for evaluations.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/Frontend/Rules.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

namespace {

constexpr std::uint64_t kMostSamples = 1 << 24; // of a round
constexpr std::uint64_t kMostMessage = std::uint64_t{1} << 31;

std::uint64_t samplesOfEngine(std::uint64_t prompts, std::uint64_t samples, std::uint64_t engines) {
  return (prompts + engines - 1) / engines * samples;
}

void checkSlots(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"rollout.slots", "roles.rollout.ranks", "batch.prompts",
                       "batch.samples_per_prompt", "rollout.over_sample"}))
    return;
  const std::uint64_t engines = std::max(job.rolloutRole.ranks.value, 1u),
                      slots = job.rollout.slots.value,
                      most = std::max(
                          samplesOfEngine(candidatesOf(job), job.batch.samplesPerPrompt.value,
                                          engines),
                          samplesOfEngine(job.evaluation.count.value,
                                          std::max<std::uint64_t>(job.evaluation.samples.value, 1),
                                          engines));
  if (slots > most)
    draft
        .error(JobCode::UnusedValue,
               "an engine with room for " + counted(slots, "sequence") + " has only " + text(most) +
                   " to generate",
               job.rollout.slots.span)
        .withHelp("use at most " + text(most) + ", or leave it out");
  if (draft.isKnown("rollout.step_tokens") && job.rollout.stepTokens.value < slots)
    draft
        .error(JobCode::Range,
               "a step of " + counted(job.rollout.stepTokens.value, "token") +
                   " has not one for each of " + counted(slots, "sequence"),
               job.rollout.stepTokens.span)
        .note("sequences of an engine at a time", job.rollout.slots.span)
        .withHelp("use at least " + counted(slots, "token") + ", or leave it out");
}

void checkSizeOfRound(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"batch.prompts", "batch.samples_per_prompt", "rollout.over_sample",
                       "data.max_prompt", "rollout.max_new", "roles.rollout.ranks"}))
    return;
  const std::uint64_t samples = candidatesOf(job) * job.batch.samplesPerPrompt.value;
  if (samples > kMostSamples) {
    draft
        .error(JobCode::StepTokens,
               "a round of " + counted(samples, "sample") + ", at most " + text(kMostSamples) +
                   " are possible",
               job.batch.prompts.span)
        .withHelp("use fewer prompts or samples, and more rounds");
    return;
  }
  const plan::RoundSettings round{
      .rollout = {.engines = job.rolloutRole.ranks.value,
                  .prompts = job.batch.prompts.value,
                  .candidates = static_cast<std::uint32_t>(candidatesOf(job)),
                  .samples = job.batch.samplesPerPrompt.value,
                  .maxPrompt = job.data.maxPrompt.value,
                  .maxNew = job.rollout.maxNew.value},
      .evaluation = {.count = job.evaluation.count.value,
                     .samples = static_cast<std::uint32_t>(job.evaluation.samples.value)}};
  const std::uint64_t bytes =
      std::max({plan::promptsBytes(round), plan::samplesBytes(round), plan::roundBytes(round)});
  if (bytes > kMostMessage)
    draft
        .error(JobCode::StepTokens,
               fmt::format("a round of {} bytes, {} can be sent at once", bytes, kMostMessage),
               job.batch.prompts.span)
        .withHelp("use fewer or shorter samples, and more rounds");
}

void checkVocabulary(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || !draft.isKnown("models." + model->name + ".vocab"))
    return;
  const std::uint32_t vocabulary = model->config.vocab;
  const SourceSpan &sizes = draft.origin("models." + model->name + ".vocab").span;
  const auto &stop = job.rollout.stop;
  for (std::size_t index = 0; index < stop.value.size(); ++index) {
    const std::uint64_t token = stop.value[index];
    const bool isSecond = std::find(stop.value.begin(), stop.value.begin() + std::ptrdiff_t(index),
                                    token) != stop.value.begin() + std::ptrdiff_t(index);
    if (token >= vocabulary)
      draft
          .error(JobCode::Range,
                 "token " + text(token) + " can end no response, the model has " + text(vocabulary),
                 stop.span)
          .note("its tokens", sizes)
          .withHelp("use tokens below " + text(vocabulary));
    else if (isSecond)
      draft.error(JobCode::UnusedValue, "token " + text(token) + " stands twice", stop.span)
          .withHelp("keep one of them");
  }
  const auto check = [&](const std::string &path, const Field<std::uint32_t> &topK) {
    if (draft.isKnown(path) && topK.value > vocabulary)
      draft
          .error(JobCode::Range,
                 code(path) + " is " + text(topK.value) + ", the model has " +
                     counted(vocabulary, "token"),
                 topK.span)
          .note("its tokens", sizes)
          .withHelp("leave it out: then all are drawn");
  };
  check("rollout.top_k", job.rollout.topK);
  check("eval.top_k", job.evaluation.topK);
}

/// Drawing more than is trained on is of use only to who chooses among it.
void checkOverSampling(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"rollout.over_sample", "rollout.filter", "batch.prompts"}))
    return;
  const bool drawsMore = candidatesOf(job) > job.batch.prompts.value,
             chooses = job.rollout.filter.value != "none";
  if (drawsMore && !chooses)
    draft
        .error(JobCode::UnusedValue,
               "`rollout.over_sample` has no use: without a filter the first prompts are taken",
               job.rollout.overSample.span)
        .withHelp("add `filter: equal-rewards`, or remove it");
  if (!drawsMore && chooses)
    draft
        .error(JobCode::UnusedValue,
               "`rollout.filter` has no use: there are no others to take instead",
               job.rollout.filter.span)
        .withHelp("add `over_sample: 1.5`, or remove it");
}

void checkPromptEvaluation(Draft &draft) {
  const Job &job = draft.job;
  const auto &held = job.evaluation;
  if (!draft.isKnown("eval.prompts"))
    return;
  if (draft.isKnown("eval.every") && !held.everyInRounds)
    draft
        .error(JobCode::Unit, "`eval.every` is counted in rounds, where prompts are evaluated",
               held.every.span, "expected rounds")
        .withHelp("write `" + counted(held.every.value, "round") + '`');
  else if (draft.areKnown({"eval.every", "run.rounds"}) && held.every.value > job.run.rounds.value)
    draft
        .error(JobCode::Range,
               "an evaluation every " + counted(held.every.value, "round") + ", the run has " +
                   text(job.run.rounds.value),
               held.every.span, "longer than the run")
        .note("the run ends here", job.run.rounds.span)
        .withHelp("use at most " + counted(job.run.rounds.value, "round"));
  if (draft.areKnown({"eval.temperature", "eval.samples"}) && held.temperature.value == 0 &&
      held.samples.value > 1)
    draft
        .error(JobCode::UnusedValue,
               counted(held.samples.value, "response") +
                   " to a prompt would all be the same: the likeliest tokens are taken",
               held.samples.span)
        .note("at this temperature", held.temperature.span)
        .withHelp("remove `eval.samples`, or use a temperature above 0");
}

void checkTextEvaluation(Draft &draft) {
  const auto &held = draft.job.evaluation;
  if (draft.isKnown("eval.every") && held.everyInRounds)
    draft
        .error(JobCode::Unit, "`eval.every` is counted in steps, where a text is evaluated",
               held.every.span, "expected steps")
        .withHelp("write `" + counted(held.every.value, "step") + '`');
}

} // namespace

void checkRollout(Draft &draft) {
  checkSlots(draft);
  checkSizeOfRound(draft);
  checkVocabulary(draft);
  checkOverSampling(draft);
}

void checkEvaluationInterval(Draft &draft) {
  if (draft.hasRounds())
    checkPromptEvaluation(draft);
  else
    checkTextEvaluation(draft);
}

} // namespace vime
