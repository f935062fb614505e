// checkRounds: J over the steps of a job with rounds, and over what they cannot have yet. Roles:
// RoundRoleRules.cpp; what is generated and learned: RolloutRules.cpp, AlgorithmRules.cpp.
#include <algorithm>
#include <string>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/Rules.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

constexpr std::uint64_t kMostSteps = 2147483647;

/// Something that rounds cannot have yet.
void later(Draft &draft, std::string what, const SourceSpan &at, std::string help) {
  draft
      .error(JobCode::LaterValue, "rounds ask for something vime cannot do yet: " + what, at,
             "not with rounds")
      .withHelp(std::move(help));
}

// --- Steps ---

/// Numbers of samples around `size` that `all` is a multiple of.
std::string divisorsAround(std::uint64_t size, std::uint64_t all) {
  std::uint64_t below = size, above = size;
  while (all % below != 0)
    --below;
  while (all % above != 0)
    ++above;
  return text(below) + " or " + text(above);
}

void checkStepsOfRound(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t prompts = job.batch.prompts.value, samples = job.batch.samplesPerPrompt.value,
                      all = prompts * samples, step = job.batch.global.value;
  if (!draft.areKnown({"batch.prompts", "batch.samples_per_prompt", "batch.global"}) ||
      (step != 0 && all % step == 0))
    return;
  const std::string ofPrompts =
      counted(prompts, "prompt") + " with " + counted(samples, "sample") + " each";
  if (step > all)
    draft
        .error(JobCode::BatchSize,
               "a step takes " + counted(step, "sample") + ", a round has only " + text(all),
               job.batch.global.span)
        .note(ofPrompts, job.batch.prompts.span)
        .withHelp("use at most " + counted(all, "sample"));
  else
    draft
        .error(JobCode::BatchSize,
               "the " + counted(all, "sample") + " of a round are no whole steps of " + text(step),
               job.batch.global.span, text(all % step) + " would be left over")
        .note(ofPrompts, job.batch.prompts.span)
        .withHelp("use steps of " + divisorsAround(step, all) + " samples; none is dropped");
}

void checkShareOfReplicas(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"batch.global", "roles.actor.parallel.dp"}) ||
      job.batch.global.value >= job.actor.data.value)
    return;
  draft
      .error(JobCode::BatchSize,
             "a step of " + counted(job.batch.global.value, "sample") + " has none for some of " +
                 counted(job.actor.data.value, "replica"),
             job.batch.global.span)
      .note("the replicas", job.actor.data.span)
      .withHelp("use at least " + counted(job.actor.data.value, "sample"));
}

void checkLength(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown(
          {"run.rounds", "batch.prompts", "batch.samples_per_prompt", "batch.global"}) ||
      job.run.rounds.value <= kMostSteps / std::max<std::uint64_t>(stepsOfRound(job), 1))
    return;
  draft
      .error(JobCode::Range,
             counted(job.run.rounds.value, "round") + " of " + counted(stepsOfRound(job), "step") +
                 " are more than " + text(kMostSteps) + " steps",
             job.run.rounds.span)
      .withHelp("use fewer rounds");
}

void checkLongestSample(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t all = std::uint64_t{job.data.maxPrompt.value} + job.rollout.maxNew.value,
                      most = static_cast<std::uint64_t>(findField("data.sequence")->most);
  if (!draft.areKnown({"data.max_prompt", "rollout.max_new"}) || all <= most)
    return;
  draft
      .error(JobCode::Range,
             "a sample may have " + counted(all, "token") + ", at most " + text(most) +
                 " are possible",
             job.rollout.maxNew.span)
      .note("those of a prompt", job.data.maxPrompt.span)
      .withHelp("use shorter responses, or shorter prompts");
}

/// What follows from rounds cannot be something else.
void checkDerived(Draft &draft) {
  const Job &job = draft.job;
  const auto refuse = [&](std::string_view path, std::uint64_t value, std::uint64_t follows,
                          const SourceSpan &at, std::string_view from) {
    if (draft.isKnown(std::string(path)) && value != follows)
      draft
          .error(JobCode::UnusedValue,
                 code(path) + " has no use where there are rounds: it follows from " +
                     std::string(from),
                 at, "is " + text(follows))
          .withHelp("remove it");
  };
  if (draft.areKnown({"run.rounds", "batch.prompts", "batch.samples_per_prompt", "batch.global"}) &&
      job.run.rounds.value <= kMostSteps / std::max<std::uint64_t>(stepsOfRound(job), 1))
    refuse("run.steps", job.run.steps.value,
           job.run.rounds.value * std::max<std::uint64_t>(stepsOfRound(job), 1), job.run.steps.span,
           "`run.rounds` and `batch`");
  if (draft.areKnown({"data.max_prompt", "rollout.max_new"}))
    refuse("data.sequence", job.data.sequence.value,
           std::uint64_t{job.data.maxPrompt.value} + job.rollout.maxNew.value,
           job.data.sequence.span, "`data.max_prompt` and `rollout.max_new`");
}

// A checkpoint has no room for what was generated: between two rounds there is nothing of it.
void checkSavedRounds(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t steps = std::max<std::uint64_t>(stepsOfRound(job), 1),
                      every = job.checkpoint.every.value;
  if (!draft.areKnown({"checkpoint.every", "run.steps"}) || every % steps == 0)
    return;
  const std::uint64_t below = every / steps * steps;
  draft
      .error(JobCode::RoundInterval,
             "a checkpoint every " + counted(every, "step") + " would fall into rounds of " +
                 text(steps),
             job.checkpoint.every.span)
      .note("steps of a round: samples of its prompts, by those of a step", job.batch.global.span)
      .withHelp("use " + (below == 0 ? "" : text(below) + " or ") + text(below + steps) + " steps");
}

// Weights lie in multiples of 8 bytes.
void checkBucket(Draft &draft) {
  const auto &bucket = draft.job.weightSync.bucket;
  if (!draft.isKnown("weight_sync.bucket") || bucket.value % 8 == 0)
    return;
  draft
      .error(JobCode::Range,
             "weights are sent in multiples of 8 bytes, not in parts of " + text(bucket.value),
             bucket.span)
      .withHelp("use a multiple of 8 bytes, as in `64MiB`");
}

// --- What there is not yet ---

void checkMeshOfRounds(Draft &draft) {
  const Job &job = draft.job;
  if (draft.isKnown("roles.actor.parallel.dp") && job.actor.data.value > 2)
    later(draft, "more than two replicas", job.actor.data.span, "write `dp: 2`, or `dp: 1`");
  if (draft.isKnown("roles.actor.parallel.shard") && job.actor.shard.value)
    later(draft, "replicas that share their weights", job.actor.shard.span, "write `shard: false`");
  if (draft.isKnown("cluster.kernels") &&
      job.cluster.kernels.value == nameOf(KernelLibrary::LibTorch))
    later(draft, "engines with other kernels than vime's", job.cluster.kernels.span,
          "write `kernels: native`");
}

void checkOrderOfRounds(Draft &draft) {
  const Job &job = draft.job;
  const Order *order =
      draft.isKnown("pipeline.schedule") ? findOrder(job.pipeline.schedule.value) : nullptr;
  if (order && order->takes.slices)
    later(draft, "samples in slices", job.pipeline.schedule.span, "choose another order");
  if (order && order->placement == "both ways")
    later(draft, "two copies of the model", job.pipeline.schedule.span, "choose another order");
}

/// The reference has no copy of its embedding where its head is.
void checkTiedHead(Draft &draft) {
  const Job::NamedModel *model = draft.model(draft.job.actor.model.value);
  if (model && draft.isStated("roles.ref") && draft.isKnown("models." + model->name + ".tied") &&
      model->config.tiedHead)
    later(draft, "a reference whose head is tied to its embedding",
          draft.origin("models." + model->name + ".tied").span,
          "write `tied: false`, or leave `roles.ref` and `algorithm.kl` out");
}

void checkUnitOfMicrobatch(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.isKnown("pipeline.microbatch") || isPacked(job))
    return;
  const std::uint64_t samples = job.pipeline.microbatch.value.count,
                      tokens = samples * job.data.sequence.value;
  later(draft, "microbatches that are counted in samples", job.pipeline.microbatch.span,
        draft.isKnown("data.sequence")
            ? "write `microbatch: " + counted(tokens, "token") + "`, which holds " +
                  counted(samples, "sample") + " of the longest, and more short ones"
            : "count it in tokens");
}

} // namespace

void checkRounds(Draft &draft) {
  checkRoundRoles(draft);
  checkStepsOfRound(draft);
  checkShareOfReplicas(draft);
  checkLength(draft);
  checkLongestSample(draft);
  checkDerived(draft);
  checkSavedRounds(draft);
  checkBucket(draft);
  checkMeshOfRounds(draft);
  checkOrderOfRounds(draft);
  checkTiedHead(draft);
  checkUnitOfMicrobatch(draft);
  checkRollout(draft);
  checkReward(draft);
  checkAlgorithm(draft);
}

} // namespace vime
