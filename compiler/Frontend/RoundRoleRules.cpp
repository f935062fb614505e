// checkRoundRoles: J over the ranks and models of the roles of a job with rounds.
#include <algorithm>
#include <string>

#include "compiler/Frontend/Rules.h"

namespace vime {

namespace {

void checkEnginesBehindActor(Draft &draft) {
  const Job &job = draft.job;
  const std::uint32_t all = job.cluster.ranks.value, first = job.actor.firstRank.value,
                      end = first + job.actor.ranks.value;
  const bool isActorKnown = draft.areKnown({"cluster.ranks", "roles.actor.ranks"});
  if (isActorKnown && first != 0)
    draft
        .error(JobCode::RoleRanks, "the actor must have the first ranks of the cluster",
               job.actor.ranks.span, "begins at rank " + text(first))
        .withHelp("write `ranks: " + rangeText(0, job.actor.ranks.value) + '`');
  else if (isActorKnown && end >= all && !draft.isStated("roles.rollout.ranks"))
    draft
        .error(JobCode::RoleRanks,
               "no rank is left for the engines: the actor has " +
                   rangeText(first, job.actor.ranks.value),
               job.actor.ranks.span)
        .note("the cluster has " + counted(all, "rank"), job.cluster.ranks.span)
        .withHelp("give the actor fewer ranks, or the cluster more");
}

void checkEngineRanks(Draft &draft) {
  const Job &job = draft.job;
  const auto &engines = job.rolloutRole;
  const std::uint32_t first = engines.firstRank.value, count = engines.ranks.value,
                      all = job.cluster.ranks.value,
                      end = job.actor.firstRank.value + job.actor.ranks.value;
  if (!draft.isKnown("roles.rollout.ranks"))
    return;
  if (first == 0)
    draft
        .error(JobCode::RoleRanks, "the engines must be behind the ranks of the actor",
               engines.ranks.span, "begin at rank 0")
        .withHelp("give the first ranks to the actor");
  else if (draft.isKnown("roles.actor.ranks") && job.actor.firstRank.value == 0 && first != end)
    draft
        .error(JobCode::RoleRanks,
               (first < end ? "the actor and the engines share ranks, from rank "
                            : "no role has the ranks before the engines, from rank ") +
                   text(std::min(first, end)),
               engines.ranks.span, "these are " + rangeText(first, count))
        .note("the actor has " + rangeText(job.actor.firstRank.value, job.actor.ranks.value),
              job.actor.ranks.span)
        .withHelp("write `ranks: " + rangeText(end, count) + '`');
  else if (draft.areKnown({"cluster.ranks", "roles.actor.ranks"}) && first + count != all)
    draft
        .error(JobCode::RoleRanks,
               "the roles have " + counted(first + count, "rank") + ", the cluster has " +
                   text(all),
               engines.ranks.span, "these are " + rangeText(first, count))
        .note("the cluster", job.cluster.ranks.span)
        .withHelp(all > first ? "write `ranks: " + rangeText(first, all - first) +
                                    "`, or `cluster.ranks: " + text(first + count) + '`'
                              : "write `cluster.ranks: " + text(first + count) + '`');
}

void checkIdleEngines(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t engines = job.rolloutRole.ranks.value,
                      prompts =
                          std::max<std::uint64_t>(candidatesOf(job), job.evaluation.count.value);
  if (!draft.areKnown({"roles.rollout.ranks", "batch.prompts", "rollout.over_sample"}) ||
      prompts >= engines)
    return;
  draft
      .error(JobCode::UnusedValue,
             counted(engines - prompts, "engine") + " would have nothing to do: a round draws " +
                 counted(prompts, "prompt"),
             job.rolloutRole.ranks.span, counted(engines, "engine"))
      .note("each engine takes whole prompts", job.batch.prompts.span)
      .withHelp("use at most " + counted(prompts, "engine") + ", or more prompts");
}

void checkModelOfEngines(Draft &draft) {
  const Job &job = draft.job;
  const auto &model = job.rolloutRole.model;
  if (!draft.areKnown({"roles.rollout.model", "roles.actor.model"}) ||
      !draft.model(job.actor.model.value) || model.value == job.actor.model.value)
    return;
  draft
      .error(JobCode::RoleModel,
             "the engines must have the actor's model, " + code(job.actor.model.value), model.span,
             "another model")
      .note("the actor's model", job.actor.model.span)
      .withHelp("leave `roles.rollout.model` out");
}

void checkReferenceModel(Draft &draft) {
  const Job &job = draft.job;
  const auto &name = job.reference.model;
  const Job::NamedModel *actor = draft.model(job.actor.model.value);
  if (!draft.areKnown({"roles.ref.model", "roles.actor.model"}) || !actor)
    return;
  const Job::NamedModel *model = draft.model(name.value);
  if (!model)
    draft
        .error(JobCode::UnknownModel, "there is no model " + code(name.value), name.span,
               "not a name in `models`")
        .withHelp("leave `roles.ref.model` out: then it is the actor's");
  else if (!draft.isSpoiled("models") && model->config != actor->config)
    draft
        .error(JobCode::RoleModel,
               "the reference must have the actor's sizes and type, " + code(model->name) +
                   " has others than " + code(actor->name),
               name.span)
        .note("the actor's model", actor->span)
        .withHelp("use a model that differs by its checkpoint only");
}

void checkFamily(Draft &draft) {
  const Job::NamedModel *model = draft.model(draft.job.actor.model.value);
  if (!model || !draft.isKnown("models." + model->name + ".family"))
    return;
  const SourceSpan &at = draft.origin("models." + model->name + ".family").span;
  if (!isDecoder(model->config.family))
    draft
        .error(JobCode::RoleModel,
               "a model of family " + code(nameOf(model->config.family)) + " generates nothing", at,
               "no decoder")
        .withHelp("use a decoder: `llama`, `qwen2` or `qwen3`");
}

} // namespace

void checkRoundRoles(Draft &draft) {
  checkEnginesBehindActor(draft);
  checkEngineRanks(draft);
  checkIdleEngines(draft);
  checkModelOfEngines(draft);
  checkReferenceModel(draft);
  checkFamily(draft);
}

} // namespace vime
