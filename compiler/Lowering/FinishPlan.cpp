#include "compiler/Lowering/FinishPlan.h"

#include <algorithm>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/ConnectRounds.h"
#include "compiler/Lowering/RoundSettings.h"
#include "runtime/Plan/Names.h"

namespace vime {
namespace {

std::vector<plan::Origin> originsOf(const Job &job) {
  using plan::Opcode;
  std::vector<plan::Origin> origins;
  auto comesFrom = [&](std::string key, const SourceSpan &span,
                       std::initializer_list<Opcode> opcodes) {
    for (const Opcode opcode : opcodes)
      origins.push_back({.opcode = plan::code(opcode),
                         .line = static_cast<std::uint32_t>(span.line),
                         .column = static_cast<std::uint32_t>(span.column),
                         .length = static_cast<std::uint32_t>(span.length),
                         .key = key});
  };
  comesFrom("pipeline.schedule", job.pipeline.schedule.span,
            {Opcode::Forward, Opcode::Backward, Opcode::BackwardInput, Opcode::BackwardWeight,
             Opcode::Send, Opcode::Receive, Opcode::Copy, Opcode::Join});
  comesFrom("roles.actor.model", job.actor.model.span, {Opcode::Loss, Opcode::Initialize});
  comesFrom("optimizer.clip", job.optimizer.clip.span,
            {Opcode::SquareNorm, Opcode::AllGather, Opcode::Clip});
  comesFrom("optimizer.kind", job.optimizer.kind.span, {Opcode::ScaleGradients, Opcode::Optimize});
  comesFrom("optimizer.commit", job.optimizer.commit.span,
            {Opcode::OptimizeEarly, Opcode::Settle, Opcode::Redo});
  comesFrom("roles.actor.parallel.dp", job.actor.data.span, {Opcode::AllReduce});
  comesFrom("roles.actor.parallel.shard", job.actor.shard.span,
            {Opcode::Unshard, Opcode::Reshard, Opcode::ReduceScatter, Opcode::ReduceSquares});
  comesFrom("data.text", job.data.text.span, {Opcode::Load});
  if (hasRounds(job)) {
    comesFrom("data.prompts", job.data.prompts.span, {Opcode::DrawPrompts, Opcode::LoadRound});
    comesFrom("eval.prompts", job.evaluation.prompts.span,
              {Opcode::DrawEvaluation, Opcode::ScoreEvaluation});
    comesFrom("reward", job.reward.rule.span, {Opcode::Score});
    comesFrom("batch.global", job.batch.global.span, {Opcode::Pack});
    comesFrom("algorithm.advantage", job.algorithm.advantage.span, {Opcode::Advantage});
    comesFrom("algorithm.loss", job.algorithm.loss.span, {Opcode::PolicyLoss});
    comesFrom("roles.ref.model", job.reference.model.span,
              {Opcode::Infer, Opcode::LogProbabilities});
    comesFrom("weight_sync.transport", job.weightSync.transport.span,
              {Opcode::BroadcastWeights, Opcode::Pause, Opcode::Flush, Opcode::Install,
               Opcode::Publish, Opcode::Resume});
    comesFrom("roles.rollout.ranks", job.rolloutRole.ranks.span, {Opcode::Wake, Opcode::Generate});
  }
  comesFrom("eval.text", job.evaluation.text.span,
            {Opcode::Evaluate, Opcode::EvaluateLoss, Opcode::LoadEvaluation,
             Opcode::ReportEvaluation, Opcode::MeasureEvaluation});
  comesFrom("run.steps", job.run.steps.span,
            {Opcode::Decide, Opcode::Broadcast, Opcode::Gather, Opcode::Measure, Opcode::Report});
  comesFrom("run.export", job.run.exportTo.span, {Opcode::ExportShard, Opcode::ExportCommit});
  const Job::NamedModel &model = *job.model(job.actor.model.value);
  if (const auto tied = model.origins.find("tied"); tied != model.origins.end())
    comesFrom("models." + model.name + ".tied", tied->second.span, {Opcode::AddTied});
  comesFrom("checkpoint.dir", job.checkpoint.directory.span,
            {Opcode::Snapshot, Opcode::CheckpointShard, Opcode::CheckpointCommit});
  std::sort(origins.begin(), origins.end(),
            [](const auto &a, const auto &b) { return a.opcode < b.opcode; });
  return origins;
}

} // namespace

std::uint64_t memoryLimitOf(const Job &job) {
  const std::uint64_t device = job.cluster.memory.value, stated = job.pipeline.memoryLimit.value;
  return device && stated ? std::min(device, stated) : std::max(device, stated);
}

void finishPlan(plan::Plan &plan, const Job &job, const TextFacts &text,
                std::string compilerVersion) {
  plan.compiler = std::move(compilerVersion);
  plan.job = resolvedText(job);
  const MicrobatchCaps caps = capsOf(job);
  plan.data = {.text = job.data.text.value,
               .textBytes = text.bytes,
               .textHash = text.hash,
               .sequence = caps.segmentTokens,
               .samples = caps.segments,
               .tokens = caps.tokens,
               .microbatches = stepMicrobatches(job),
               .slices = caps.slices,
               .batch = job.batch.global.value,
               .split = splitOf(job),
               .tail = tailOf(job)};
  if (!job.evaluation.text.value.empty())
    plan.evaluation = {.text = job.evaluation.text.value,
                       .textBytes = text.heldOutBytes,
                       .textHash = text.heldOutHash,
                       .every = job.evaluation.every.value,
                       .batch = evaluationBatch(job),
                       .microbatches = evaluationMicrobatches(job),
                       .patience = job.evaluation.patience.value,
                       .target = job.evaluation.target.value};
  plan.models.front().moduleHash = text.moduleHash;
  plan.optimizer = {.learningRate = job.optimizer.learningRate.value,
                    .beta1 = job.optimizer.beta1.value,
                    .beta2 = job.optimizer.beta2.value,
                    .epsilon = job.optimizer.epsilon.value,
                    .weightDecay = job.optimizer.weightDecay.value,
                    .clip = job.optimizer.clip.value,
                    .warmup = job.optimizer.warmup.value,
                    .decay = *plan::enumeratorOf<plan::Decay>(job.optimizer.decay.value),
                    .floor = job.optimizer.floor.value};
  if (hasRounds(job))
    plan.round = roundSettings(job, text.round);
  plan.checkpoint = {.directory = job.checkpoint.directory.value,
                     .every = job.checkpoint.every.value,
                     .keep = job.checkpoint.keep.value};
  plan.run = {.name = job.name.value,
              .steps = job.run.steps.value,
              .seed = job.run.seed.value,
              .exportTo = job.run.exportTo.value};
  plan.limits = {.connectSeconds = job.limits.connectSeconds.value,
                 .transferSeconds = job.limits.transferSeconds.value,
                 .memoryBytes = memoryLimitOf(job)};
  plan.connect = connectRounds(plan);
  plan.origins = originsOf(job);
}

} // namespace vime
