// checkRules: J over several values. One function a rule; each is silent if one of its values is not known.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Nearest.h"
#include "compiler/Frontend/Draft.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

constexpr std::uint64_t kMostTokens = 1 << 24; // of a microbatch
constexpr std::uint32_t kByteTokens = 256;

std::string text(std::uint64_t number) { return std::to_string(number); }

std::string code(std::string_view words) { return '`' + std::string(words) + '`'; }

std::string counted(std::uint64_t count, std::string_view noun) {
  return text(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string rangeText(std::uint32_t first, std::uint32_t count) {
  return count == 1 ? text(first) : text(first) + '-' + text(first + count - 1);
}

void checkActorModel(Draft &draft) {
  const auto &model = draft.job.actor.model;
  if (!draft.isKnown("roles.actor.model") || draft.isSpoiled("models") || draft.job.models.empty() ||
      draft.model(model.value))
    return;
  std::vector<std::string_view> names;
  for (const Job::NamedModel &candidate : draft.job.models)
    names.push_back(candidate.name);
  Finding &finding = draft.error(JobCode::UnknownModel, "there is no model " + code(model.value), model.span,
                                 "not a name in `models`");
  if (const auto near = nearest(model.value, names))
    finding.withHelp("a similar name exists: " + code(*near));
  else
    finding.note("the first model is " + code(names.front()), draft.job.models.front().span);
}

void checkUnusedModels(Draft &draft) {
  if (!draft.isKnown("roles.actor.model") || !draft.model(draft.job.actor.model.value))
    return;
  for (const Job::NamedModel &model : draft.job.models)
    if (model.name != draft.job.actor.model.value)
      draft.error(JobCode::UnusedModel, "no role uses model " + code(model.name), model.span, "never used")
          .withHelp("remove it, or name it in a role");
}

void checkActorRanks(Draft &draft) {
  const Job &job = draft.job;
  const std::uint32_t first = job.actor.firstRank.value, count = job.actor.ranks.value, all = job.cluster.ranks.value;
  if (!draft.areKnown({"cluster.ranks", "roles.actor.ranks"}) || (first == 0 && count == all))
    return;
  draft
      .error(JobCode::RoleRanks, "the actor must have all ranks of the cluster, " + rangeText(0, all),
             job.actor.ranks.span, "these are " + rangeText(first, count))
      .note("the cluster has " + counted(all, "rank"), job.cluster.ranks.span)
      .withHelp(first == 0 ? "write `ranks: " + rangeText(0, all) + "`, or `cluster.ranks: " + text(count) + '`'
                           : "write `ranks: " + rangeText(0, all) + '`');
}

void checkMesh(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"roles.actor.ranks", "roles.actor.parallel.pp"}) ||
      job.actor.pipeline.value == job.actor.ranks.value)
    return;
  draft
      .error(JobCode::MeshSize, "a pipeline through " + counted(job.actor.pipeline.value, "rank") + " on " + counted(job.actor.ranks.value, "rank"),
             job.actor.pipeline.span, "`pp` is the only axis there is yet")
      .note("the role has these ranks", job.actor.ranks.span)
      .withHelp("write `pp: " + text(job.actor.ranks.value) + "`, or leave it out");
}

void checkStages(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || !draft.areKnown({"roles.actor.parallel.pp", "pipeline.chunks", "models." + model->name + ".layers"}))
    return;
  const std::uint64_t ranks = job.actor.pipeline.value, chunks = job.pipeline.chunks.value, stages = ranks * chunks,
                      layers = model->config.layers;
  if (stages <= layers)
    return;
  const SourceSpan layersAt = draft.origin("models." + model->name + ".layers").span;
  std::string help = "use at least " + counted(stages, "layer");
  if (chunks > 1 && layers >= ranks)
    help += ", or at most " + counted(layers / ranks, "chunk");
  if (layers >= chunks)
    help += ", or at most " + counted(layers / chunks, "rank");
  draft
      .error(JobCode::TooManyStages, counted(stages, "stage") + " cannot share " + counted(layers, "layer"),
             chunks > 1 ? job.pipeline.chunks.span : job.actor.pipeline.span,
             counted(ranks, "rank") + " of " + counted(chunks, "stage"))
      .note("the model has " + counted(layers, "layer"), layersAt)
      .withHelp(help);
}

void checkOrder(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"pipeline.schedule", "roles.actor.parallel.pp", "pipeline.microbatches", "pipeline.chunks"}))
    return;
  const Order *order = findOrder(job.pipeline.schedule.value);
  const ScheduleShape shape{.ranks = static_cast<int>(job.actor.pipeline.value),
                            .microbatches = static_cast<int>(job.pipeline.microbatches.value),
                            .chunks = static_cast<int>(job.pipeline.chunks.value)};
  const auto problem = order ? check(*order, shape) : std::nullopt;
  if (!problem)
    return;
  const SourceSpan &at = problem->number == "ranks"    ? job.actor.pipeline.span
                         : problem->number == "chunks" ? job.pipeline.chunks.span
                                                       : job.pipeline.microbatches.span;
  Finding &finding = draft.error(JobCode::OrderRefuses, problem->message, at).withHelp(problem->help);
  if (!(job.pipeline.schedule.span == at))
    finding.note("the schedule is chosen here", job.pipeline.schedule.span);
}

void checkMicrobatchTokens(Draft &draft) {
  const Job &job = draft.job;
  const std::uint64_t samples = job.pipeline.samples.value, sequence = job.data.sequence.value;
  if (!draft.areKnown({"pipeline.microbatch", "data.sequence"}) || samples * sequence <= kMostTokens)
    return;
  draft
      .error(JobCode::MicrobatchTokens,
             "a microbatch of " + counted(samples * sequence, "token") + ", at most " + text(kMostTokens) + " are possible",
             job.pipeline.samples.span, counted(samples, "sample") + " of " + counted(sequence, "token"))
      .withHelp("use at most " + counted(kMostTokens / sequence, "sample") + " and more microbatches");
}

void checkMemoryLimit(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.areKnown({"pipeline.memory_limit", "cluster.memory"}) ||
      job.pipeline.memoryLimit.value <= job.cluster.memory.value)
    return;
  draft.error(JobCode::MemoryLimit, "the limit of a plan is above the memory of a rank", job.pipeline.memoryLimit.span)
      .note("a rank has this much", job.cluster.memory.span)
      .withHelp("lower it, or leave it out: then it is `cluster.memory`");
}

// A value of another family than the model's, and a dtype that nobody computes with.
void checkUnusedValues(Draft &draft) {
  for (const Job::NamedModel &model : draft.job.models) {
    const std::string section = "models." + model.name;
    if (!draft.isKnown(section + ".family"))
      continue;
    for (const auto &[path, span] : std::map(draft.statedKeys())) {
      const FieldSpec *field = sectionOf(path) == section ? findField(path) : nullptr;
      if (field && !field->family.empty() && !draft.isFamily(model, field->family))
        draft
            .error(JobCode::UnusedValue, code(path) + " has no use: models of family " + code(nameOf(model.config.family)) + " do not have it", span,
                   "only " + code(field->family) + " has it")
            .withHelp("remove it");
    }
  }
}

std::uint32_t nearestMultiple(std::uint32_t number, std::uint32_t of) {
  const std::uint32_t below = number / of * of, above = below + of;
  return below > 0 && number - below <= above - number ? below : above;
}

std::uint32_t nearestDivisor(std::uint32_t number, std::uint32_t of) {
  for (std::uint32_t step = 0; step < of; ++step) {
    if (number > step && of % (number - step) == 0)
      return number - step;
    if (number + step <= of && of % (number + step) == 0)
      return number + step;
  }
  return of;
}

// True if nothing was found.
bool checkHeads(Draft &draft, const Job::NamedModel &model) {
  const std::string section = "models." + model.name;
  const ModelConfig &config = model.config;
  const auto place = [&](const char *key) { return draft.origin(section + key).span; };
  if (draft.areKnown({section + ".heads", section + ".kv_heads"}) && config.heads % config.kvHeads != 0) {
    draft
        .error(JobCode::Heads, counted(config.heads, "head") + " cannot share " + counted(config.kvHeads, "key-value head") + " evenly",
               place(".kv_heads"), "does not divide " + text(config.heads))
        .note("the heads", place(".heads"))
        .withHelp("write `kv_heads: " + text(nearestDivisor(config.kvHeads, config.heads)) + '`');
    return false;
  }
  const bool widthIsKnown = draft.isKnown(section + ".head_width");
  if (draft.areKnown({section + ".hidden", section + ".heads"}) && !widthIsKnown &&
      !draft.isStated(section + ".head_width")) {
    draft
        .error(JobCode::Heads, "a width of " + text(config.hidden) + " cannot be shared by " + counted(config.heads, "head") + " evenly",
               place(".hidden"), "no multiple of " + text(config.heads))
        .note("the heads", place(".heads"))
        .withHelp("write `hidden: " + text(nearestMultiple(config.hidden, 2 * config.heads)) + "`, or state `head_width`");
    return false;
  }
  if (widthIsKnown && config.headWidth % 2 != 0) {
    draft
        .error(JobCode::Heads, "heads of width " + text(config.headWidth) + ": rotary positions turn pairs, so the width must be even",
               place(".head_width"), "odd")
        .withHelp("write `head_width: " + text(config.headWidth + 1) + '`');
    return false;
  }
  return true;
}

void checkVocabulary(Draft &draft, const Job::NamedModel &model) {
  const std::string path = "models." + model.name + ".vocab";
  if (!draft.isKnown(path) || model.config.vocab >= kByteTokens)
    return;
  draft
      .error(JobCode::Vocabulary, "a vocabulary of " + text(model.config.vocab) + " is too small for text: a token is one of 256 bytes",
             draft.origin(path).span, "at least 256")
      .withHelp("write `vocab: 256`");
}

// What ModelSpec refuses beyond the rules above.
void checkConfig(Draft &draft, const Job::NamedModel &model) {
  for (const FieldSpec &field : fieldTable())
    if (sectionOf(field.path) == "models.*" && field.hasValue() && !field.optional &&
        (field.family.empty() || draft.isFamily(model, field.family)) &&
        !draft.isKnown("models." + model.name + '.' + std::string(field.key())))
      return;
  if (const Status status = check(model.config); !status.ok())
    draft.error(JobCode::ModelRefused, "model " + code(model.name) + " cannot be built: " + status.message(), model.span);
}

void checkModel(Draft &draft, const Job::NamedModel &model) {
  if (!draft.isKnown("models." + model.name + ".family"))
    return;
  if (!draft.isFamily(model, "llama"))
    return checkConfig(draft, model);
  checkVocabulary(draft, model);
  if (checkHeads(draft, model))
    checkConfig(draft, model);
}

} // namespace

void checkRules(Draft &draft) {
  checkUnusedValues(draft);
  for (const Job::NamedModel &model : draft.job.models)
    checkModel(draft, model);
  checkActorModel(draft);
  checkUnusedModels(draft);
  checkActorRanks(draft);
  checkMesh(draft);
  checkStages(draft);
  checkOrder(draft);
  checkMicrobatchTokens(draft);
  checkMemoryLimit(draft);
}

} // namespace vime
