// What follows from the other values of a job with rounds.
#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/Frontend/Derived.h"

namespace vime {

namespace {

constexpr std::uint64_t kUsualSlots = 64;

Derived batchOfRound(const Draft &draft) {
  const auto &batch = draft.job.batch;
  return derivedFrom(draft, std::uint64_t{batch.prompts.value} * batch.samplesPerPrompt.value,
                     {"batch.prompts", "batch.samples_per_prompt"});
}

Derived longestSample(const Draft &draft) {
  return derivedFrom(draft,
                     std::uint64_t{draft.job.data.maxPrompt.value} + draft.job.rollout.maxNew.value,
                     {"data.max_prompt", "rollout.max_new"});
}

// Rounded down where they do not divide, which the rules report.
Derived stepsOfRun(const Draft &draft) {
  constexpr std::uint64_t kMost = 2147483647; // more are reported by the rules
  const std::uint64_t steps = std::max<std::uint64_t>(stepsOfRound(draft.job), 1);
  return derivedFrom(draft,
                     std::min(draft.job.run.rounds.value, kMost / std::min(steps, kMost)) * steps,
                     {"run.rounds", "batch.prompts", "batch.samples_per_prompt", "batch.global"});
}

Derived usualSlots(const Draft &draft) {
  const std::uint64_t engines = std::max(draft.job.rolloutRole.ranks.value, 1u),
                      prompts = (candidatesOf(draft.job) + engines - 1) / engines,
                      sequences = prompts * draft.job.batch.samplesPerPrompt.value;
  return derivedFrom(
      draft, std::clamp<std::uint64_t>(sequences, 1, kUsualSlots),
      {"batch.prompts", "batch.samples_per_prompt", "rollout.over_sample", "roles.rollout.ranks"});
}

Derived usualStepTokens(const Draft &draft) {
  return derivedFrom(draft,
                     std::uint64_t{draft.job.rollout.slots.value} + draft.job.data.maxPrompt.value,
                     {"rollout.slots", "data.max_prompt"});
}

// As the papers have them (runtime/Policy/README.md).
Derived usualUnit(const Draft &draft) {
  const std::string &loss = draft.job.algorithm.loss.value,
                    &advantage = draft.job.algorithm.advantage.value;
  const std::string unit = loss == "gspo"                                            ? "sequence"
                           : loss == "cispo" || advantage.starts_with("reinforce++") ? "token"
                           : advantage == "dr-grpo"                                  ? "constant"
                                                                                     : "rollout";
  return derivedFrom(draft, unit, {"algorithm.advantage", "algorithm.loss"});
}

Derived likeRollout(const Draft &draft, const std::string &path) {
  const std::string source = "rollout." + path.substr(path.find('.') + 1);
  return draft.isKnown(source) ? derivedFrom(draft, draft.value(source), {source}) : std::nullopt;
}

Derived countOfEvaluation(const Draft &draft) {
  return derivedFrom(draft, std::uint64_t{draft.job.batch.prompts.value}, {"batch.prompts"});
}

} // namespace

std::uint64_t candidatesOf(const Job &job) {
  return static_cast<std::uint64_t>(
      std::ceil(job.batch.prompts.value * std::max(job.rollout.overSample.value, 1.0)));
}

Derived derivedFrom(const Draft &draft, Value value, std::initializer_list<std::string> sources) {
  if (!draft.areKnown(sources))
    return std::nullopt;
  Origin origin{.span = draft.origin(*sources.begin()).span};
  for (const std::string &source : sources)
    origin.from += (origin.from.empty() ? "" : ", ") + source;
  return std::pair(std::move(value), std::move(origin));
}

Derived deriveOfRounds(const Draft &draft, const std::string &path) {
  static const std::map<std::string, Derived (*)(const Draft &), std::less<>> kRules = {
      {"batch.global", batchOfRound},
      {"data.sequence", longestSample},
      {"run.steps", stepsOfRun},
      {"rollout.slots", usualSlots},
      {"rollout.step_tokens", usualStepTokens},
      {"algorithm.unit", usualUnit},
      {"eval.count", countOfEvaluation}};
  if (const auto rule = kRules.find(path); rule != kRules.end())
    return rule->second(draft);
  return path.starts_with("eval.") ? likeRollout(draft, path) : std::nullopt;
}

} // namespace vime
