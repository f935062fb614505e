// checkRules: J over the roles, the pipeline and the cluster. One function a rule; each is silent
// if one of its values is not known.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Rules.h"
#include "runtime/Base/Nearest.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

void checkActorModel(Draft &draft) {
  const auto &model = draft.job.actor.model;
  if (!draft.isKnown("roles.actor.model") || draft.isSpoiled("models") ||
      draft.job.models.empty() || draft.model(model.value))
    return;
  std::vector<std::string_view> names;
  for (const Job::NamedModel &candidate : draft.job.models)
    names.push_back(candidate.name);
  Finding &finding = draft.error(JobCode::UnknownModel, "there is no model " + code(model.value),
                                 model.span, "not a name in `models`");
  if (const auto near = nearest(model.value, names))
    finding.withHelp("a similar name exists: " + code(*near));
  else
    finding.note("the first model is " + code(names.front()), draft.job.models.front().span);
}

void checkUnusedModels(Draft &draft) {
  if (!draft.isKnown("roles.actor.model") || !draft.model(draft.job.actor.model.value))
    return;
  for (const Job::NamedModel &model : draft.job.models)
    if (model.name != draft.job.actor.model.value && model.name != draft.job.reference.model.value)
      draft
          .error(JobCode::UnusedModel, "no role uses model " + code(model.name), model.span,
                 "never used")
          .withHelp("remove it, or name it in a role");
}

void checkActorRanks(Draft &draft) {
  const Job &job = draft.job;
  const std::uint32_t first = job.actor.firstRank.value, count = job.actor.ranks.value,
                      all = job.cluster.ranks.value;
  if (draft.hasRounds() || !draft.areKnown({"cluster.ranks", "roles.actor.ranks"}) ||
      (first == 0 && count == all))
    return;
  draft
      .error(JobCode::RoleRanks,
             "the actor must have all ranks of the cluster, " + rangeText(0, all),
             job.actor.ranks.span, "these are " + rangeText(first, count))
      .note("the cluster has " + counted(all, "rank"), job.cluster.ranks.span)
      .withHelp(first == 0 ? "write `ranks: " + rangeText(0, all) +
                                 "`, or `cluster.ranks: " + text(count) + '`'
                           : "write `ranks: " + rangeText(0, all) + '`');
}

// An axis that is refused would have changed the product.
bool hasLaterAxis(const Draft &draft) {
  return std::any_of(fieldTable().begin(), fieldTable().end(), [&](const FieldSpec &field) {
    return field.isLater() && sectionOf(field.path) == "roles.actor.parallel" &&
           draft.isSpoiled(field.path);
  });
}

// The axis that is right as it is stays.
std::string meshHelp(std::uint64_t pipeline, std::uint64_t replicas, std::uint64_t ranks) {
  const std::string pp = "`pp: " + text(ranks / replicas) + '`',
                    dp = "`dp: " + text(ranks / pipeline) + '`';
  const bool mayChangePipeline = ranks % replicas == 0, mayChangeReplicas = ranks % pipeline == 0;
  if (mayChangePipeline && mayChangeReplicas)
    return "write " + pp + ", or " + dp;
  return mayChangePipeline || mayChangeReplicas ? "write " + (mayChangePipeline ? pp : dp)
                                                : "both must divide " + text(ranks);
}

void checkMesh(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t pipeline = job.actor.pipeline.value, replicas = job.actor.data.value,
                      ranks = job.actor.ranks.value;
  if (!draft.areKnown(
          {"roles.actor.ranks", "roles.actor.parallel.pp", "roles.actor.parallel.dp"}) ||
      pipeline * replicas == ranks || hasLaterAxis(draft))
    return;
  const bool isReplicated = job.actor.data.origin == OriginKind::Given;
  const std::string what =
      isReplicated ? counted(replicas, "replica") + " of a pipeline" : "a pipeline";
  draft
      .error(JobCode::MeshSize,
             what + " through " + counted(pipeline, "rank") + " on " + counted(ranks, "rank"),
             isReplicated ? job.actor.data.span : job.actor.pipeline.span,
             "`pp` times `dp` is " + text(pipeline * replicas))
      .note("the role has these ranks", job.actor.ranks.span)
      .withHelp(meshHelp(pipeline, replicas, ranks));
}

// What replicas share has to be shared by several, and is not everything yet.
void checkShard(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!draft.isKnown("roles.actor.parallel.shard"))
    return;
  const auto unused = [&](std::string_view path, const SourceSpan &span) {
    draft
        .error(JobCode::UnusedValue, code(path) + " has no use: every replica has the whole model",
               span)
        .withHelp("remove it, or write `shard: true` in `roles.actor.parallel`");
  };
  if (!job.actor.shard.value && job.memory.unsharded.value != 0)
    unused("memory.unsharded", job.memory.unsharded.span);
  if (!job.actor.shard.value && job.memory.unshardRule.value == "torch-compatible")
    unused("memory.unshard_rule", job.memory.unshardRule.span);
  if (!job.actor.shard.value)
    return;
  const auto later = [&](std::string what, const SourceSpan &span, std::string help) {
    draft
        .error(JobCode::LaterValue,
               "`roles.actor.parallel.shard` asks for something vime cannot do yet: " + what,
               job.actor.shard.span)
        .note("asked for here", span)
        .withHelp(std::move(help));
  };
  if (draft.isKnown("roles.actor.parallel.dp") && job.actor.data.value == 1)
    draft
        .error(JobCode::UnusedValue,
               "`roles.actor.parallel.shard` has no use: one replica keeps everything",
               job.actor.shard.span)
        .note("there is one replica", job.actor.data.span)
        .withHelp("remove it, or have several replicas: `dp` above 1");
  if (model && draft.isKnown("models." + model->name + ".tied") && model->config.tiedHead)
    later("sharing a model whose head is tied to its embedding",
          draft.origin("models." + model->name + ".tied").span,
          "write `tied: false`, or `shard: false`");
  if (!job.checkpoint.directory.value.empty())
    later("checkpoints of shares", job.checkpoint.directory.span,
          "remove `checkpoint`, or write `shard: false`");
  if (draft.isKnown("optimizer.commit") && job.optimizer.commit.value == "post_validated")
    later("taking a step back where replicas keep shares", job.optimizer.commit.span,
          "write `commit: barrier`, or `shard: false`");
  if (!draft.isKnown("pipeline.schedule"))
    return;
  const Order *order = findOrder(job.pipeline.schedule.value);
  if (order && order->placement == "both ways")
    later("sharing a model of which an order has two copies", job.pipeline.schedule.span,
          "choose another order, or write `shard: false`");
  if (order && order->takes.slices)
    later("sharing a model that samples pass through in slices", job.pipeline.schedule.span,
          "choose another order, or write `shard: false`");
}

void checkExportedModel(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || job.run.exportTo.value.empty() || isDecoder(model->config.family) ||
      model->config.family == ModelFamily::TorchScript)
    return;
  draft.error(JobCode::UnusedValue,
              "`run.export` has no use: a model of family " + code(nameOf(model->config.family)) +
                  " has no weights",
              job.run.exportTo.span);
}

void checkRecompute(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || !draft.isKnown("models." + model->name + ".family") ||
      job.memory.recompute.value != "layer" || isDecoder(model->config.family))
    return;
  draft
      .error(JobCode::UnusedValue,
             "`memory.recompute` has no use: a model of family " +
                 code(nameOf(model->config.family)) + " keeps no activations of its layers",
             job.memory.recompute.span)
      .withHelp("remove it");
}

void checkKernels(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || job.cluster.kernels.value != nameOf(KernelLibrary::LibTorch) ||
      !draft.isKnown("models." + model->name + ".dtype") ||
      model->config.type != DataType::BFloat16)
    return;
  draft
      .error(JobCode::LaterValue,
             "`cluster.kernels` asks for something vime cannot do yet: `libtorch` in bfloat16",
             job.cluster.kernels.span, "has no bfloat16")
      .note("the model's type", draft.origin("models." + model->name + ".dtype").span)
      .withHelp("write `kernels: native`, or `dtype: float32`");
}

void checkMemoryLimit(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"pipeline.memory_limit", "cluster.memory"}) ||
      job.pipeline.memoryLimit.value <= job.cluster.memory.value)
    return;
  draft
      .error(JobCode::MemoryLimit, "the limit of a plan is above the memory of a rank",
             job.pipeline.memoryLimit.span)
      .note("a rank has this much", job.cluster.memory.span)
      .withHelp("lower it, or leave it out: then it is `cluster.memory`");
}

} // namespace

void checkRules(Draft &draft) {
  checkModels(draft);
  checkActorModel(draft);
  checkUnusedModels(draft);
  checkActorRanks(draft);
  checkMesh(draft);
  checkShard(draft);
  checkPipeline(draft);
  checkBatch(draft);
  checkExportedModel(draft);
  checkRecompute(draft);
  checkKernels(draft);
  checkMemoryLimit(draft);
  checkVariation(draft);
  checkSaving(draft);
  checkEvaluationInterval(draft);
  if (draft.hasRounds())
    checkRounds(draft);
}

} // namespace vime
