// checkAlgorithm: J over `algorithm`: parts that go together, and only what they use.
#include <string>

#include <fmt/format.h>

#include "compiler/Frontend/Rules.h"

namespace vime {

namespace {

void unused(Draft &draft, std::string_view path, const SourceSpan &span, const std::string &why) {
  draft.error(JobCode::UnusedValue, code(path) + " has no use: " + why, span).withHelp("remove it");
}

/// The place of a default says nothing.
void noteGiven(Finding &finding, std::string text, const auto &field) {
  if (field.origin == OriginKind::Given)
    finding.note(std::move(text), field.span);
}

// With one response there is nothing to compare it with.
void checkGroups(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"algorithm.advantage", "batch.samples_per_prompt"}) ||
      job.batch.samplesPerPrompt.value > 1 || job.algorithm.advantage.value == "reinforce++")
    return;
  Finding &finding = draft.error(JobCode::Algorithm,
                                 code(job.algorithm.advantage.value) +
                                     " compares the responses to a prompt, and there is one",
                                 job.batch.samplesPerPrompt.span);
  noteGiven(finding, "the advantage", job.algorithm.advantage);
  finding.withHelp("use at least 2 samples of each prompt, or `advantage: reinforce++`");
}

void checkReference(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.isKnown("algorithm.kl.coef"))
    return;
  const bool isUsed = job.algorithm.klCoefficient.value != 0,
             isStated = draft.isStated("roles.ref");
  if (isUsed && !isStated)
    draft
        .error(JobCode::MissingKey,
               "`roles.ref` is missing: the model that the policy is held near",
               job.algorithm.klCoefficient.span, "near what?")
        .withHelp("add `ref: {like: actor}` to `roles`, or write `coef: 0`");
  if (!isUsed && isStated && !draft.isSpoiled("roles.ref"))
    draft
        .error(JobCode::UnusedValue, "`roles.ref` has no use: `algorithm.kl.coef` is 0",
               draft.keySpan("roles.ref"))
        .withHelp("remove it, or write `algorithm: {kl: {coef: 0.01}}`");
  if (!isUsed && isOther(draft, "algorithm.kl.estimator"))
    unused(draft, "algorithm.kl.estimator", job.algorithm.klEstimator.span,
           "`algorithm.kl.coef` is 0");
}

/// Of advantages that are whitened; whatever else compares rewards has them from the coordinator,
/// which knows no reference.
void checkKlPlace(Draft &draft) {
  const auto &algorithm = draft.job.algorithm;
  if (!draft.areKnown({"algorithm.kl.in", "algorithm.kl.coef", "algorithm.advantage"}) ||
      algorithm.klPlace.value != "reward")
    return;
  if (algorithm.klCoefficient.value == 0)
    return unused(draft, "algorithm.kl.in", algorithm.klPlace.span, "`algorithm.kl.coef` is 0");
  if (!algorithm.advantage.value.starts_with("reinforce++")) {
    Finding &finding =
        draft.error(JobCode::Algorithm,
                    code(algorithm.advantage.value) + " has its KL in the loss, not in the reward",
                    algorithm.klPlace.span);
    noteGiven(finding, "the advantage", algorithm.advantage);
    finding.withHelp("write `in: loss`, or `advantage: reinforce++`");
  }
  if (draft.isKnown("roles.actor.parallel.dp") && draft.job.actor.data.value > 1)
    draft
        .error(JobCode::LaterValue,
               "a KL in the reward asks for something vime cannot do yet: whitening over replicas",
               draft.job.actor.data.span, "not with a KL in the reward")
        .withHelp("write `dp: 1`, or `in: loss`");
}

void checkClip(Draft &draft) {
  const auto &algorithm = draft.job.algorithm;
  if (!draft.areKnown({"algorithm.clip", "algorithm.loss"}))
    return;
  const std::string &loss = algorithm.loss.value;
  if (loss == "reinforce" && isOther(draft, "algorithm.clip"))
    unused(draft, "algorithm.clip", algorithm.clipLow.span, "`reinforce` has no ratio");
  if ((loss == "ppo-clip" || loss == "gspo") && algorithm.clipLow.value > 1)
    draft
        .error(JobCode::Range,
               fmt::format("a ratio is never below 0, and counts down to 1 - {}",
                           algorithm.clipLow.value),
               algorithm.clipLow.span)
        .withHelp("use at most 1 for the lower one, as in `[0.2, 0.28]`");
  if (loss != "reinforce" && algorithm.clipLow.value == 0 && algorithm.clipHigh.value == 0)
    draft
        .error(JobCode::Range, "a ratio that counts at 1 alone teaches nothing behind a first step",
               algorithm.clipLow.span)
        .withHelp("use numbers above 0, as in `[0.2, 0.28]`");
  if ((loss == "cispo" || loss == "reinforce") && draft.isKnown("algorithm.dual_clip"))
    unused(draft, "algorithm.dual_clip", algorithm.dualClip.span,
           code(loss) + " has no clipped ratio");
}

// The ratio of a sequence is one number: its tokens are not weighed against those of others.
void checkUnit(Draft &draft) {
  const auto &algorithm = draft.job.algorithm;
  if (!draft.areKnown({"algorithm.unit", "algorithm.loss"}) || algorithm.loss.value != "gspo" ||
      (algorithm.unit.value != "token" && algorithm.unit.value != "constant"))
    return;
  draft
      .error(JobCode::Algorithm,
             "`gspo` has one ratio for each sequence, and " + code(algorithm.unit.value) +
                 " weighs sequences by their tokens",
             algorithm.unit.span)
      .note("the loss", algorithm.loss.span)
      .withHelp("leave `algorithm.unit` out: then it is `sequence`");
}

void checkCorrection(Draft &draft) {
  const auto &algorithm = draft.job.algorithm;
  if (!draft.areKnown({"algorithm.correction.kind", "algorithm.correction.low",
                       "algorithm.correction.high", "algorithm.loss", "rollout.temperature",
                       "rollout.top_p", "rollout.top_k"}))
    return;
  const auto &kind = algorithm.correction;
  if (kind.value == "none") {
    for (const auto &[path, field] :
         {std::pair("algorithm.correction.low", &algorithm.correctionLow),
          std::pair("algorithm.correction.high", &algorithm.correctionHigh)})
      if (isOther(draft, path))
        unused(draft, path, field->span, "nothing is corrected");
    return;
  }
  const auto &sampling = draft.job.rollout;
  const bool drawsFromThePolicy =
      sampling.temperature.value == 1 && sampling.topP.value == 1 && sampling.topK.value == 0;
  if (algorithm.loss.value != "reinforce" && drawsFromThePolicy)
    draft
        .error(JobCode::UnusedValue,
               "`algorithm.correction` has no use: the old policy's probabilities are those that "
               "tokens were drawn with",
               kind.span)
        .note("engine and trainer compute them by the same kernels, to the bit")
        .withHelp("remove it");
  if (algorithm.correctionLow.value <= algorithm.correctionHigh.value)
    return;
  Finding &finding =
      draft.error(JobCode::Range,
                  fmt::format("the smallest ratio, {}, is above the largest, {}",
                              algorithm.correctionLow.value, algorithm.correctionHigh.value),
                  algorithm.correctionLow.span);
  noteGiven(finding, "the largest", algorithm.correctionHigh);
  finding.withHelp("let `low` be at most `high`");
}

} // namespace

void checkAlgorithm(Draft &draft) {
  checkGroups(draft);
  checkReference(draft);
  checkKlPlace(draft);
  checkClip(draft);
  checkUnit(draft);
  checkCorrection(draft);
}

} // namespace vime
