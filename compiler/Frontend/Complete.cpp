// complete: defaults, derived values, and what is missing.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "compiler/Frontend/Derived.h"
#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Microbatch.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

class Completion {
public:
  explicit Completion(Draft &draft) : draft(draft) {}

  void run() {
    refuseAbsent();
    for (const FieldSpec &field : fieldTable())
      for (const std::string &path : pathsOf(field))
        fill(field, path);
    if (draft.job.models.empty() && draft.isStated("models") && !draft.isSpoiled("models"))
      draft.error(JobCode::MissingKey, "`models` has no model", draft.keySpan("models"),
                  "expected a name and its sizes");
    for (const auto &[section, keys] : missingSections)
      reportSection(section, keys);
  }

private:
  /// What is stated and belongs to another kind of job; of a section that does, its own key.
  void refuseAbsent() {
    for (const FieldSpec &field : fieldTable()) {
      const std::string path(field.path);
      if (draft.has(field.presence) || !draft.isStated(path) || draft.isSpoiled(path))
        continue;
      draft.spoil(path);
      if (field.presence == Presence::Prompts && draft.hasRounds())
        continue; // the prompts are missing, which the rules report
      const auto [why, help] = whyAbsent(field.presence);
      draft.error(JobCode::UnusedValue, '`' + path + "` has no use: " + why, draft.keySpan(path))
          .withHelp(help);
    }
  }

  std::pair<std::string, std::string> whyAbsent(Presence presence) const {
    switch (presence) {
    case Presence::Text:
      return {"this job trains on what it generates, and reads no text", "remove it"};
    case Presence::Prompts:
      return {"no prompts are evaluated", "add `eval.prompts`, or remove it"};
    default:
      return {"this job generates nothing",
              "remove it; a job that generates has `roles.rollout` and `run.rounds`"};
    }
  }

  /// The paths that a row stands for in this job: one, or one for each model that has it.
  std::vector<std::string> pathsOf(const FieldSpec &field) const {
    if (field.isLater() || field.type == FieldType::Section || !draft.has(field.presence))
      return {};
    if (modelNameIn(field.path).empty())
      return {std::string(field.path)};
    std::vector<std::string> paths;
    for (const Job::NamedModel &model : draft.job.models)
      if (field.key() == "family" || hasField(model, field))
        paths.push_back("models." + model.name + '.' + std::string(field.key()));
    if (draft.job.models.empty() && field.key() == "family" && !draft.isStated("models"))
      paths.push_back(std::string(field.path));
    return paths;
  }

  bool hasField(const Job::NamedModel &model, const FieldSpec &field) const {
    return draft.hasField(model, field);
  }

  void fill(const FieldSpec &field, const std::string &path) {
    if (draft.isKnown(path) || draft.isSpoiled(path))
      return;
    if (!field.fallback.empty())
      return draft.store(field, path, std::get<Value>(parseValue(field, field.fallback)),
                         {.kind = OriginKind::Default, .span = draft.keySpan(path)});
    if (!field.derivedFrom.empty()) {
      if (auto derived = derive(path)) {
        derived->second.kind = OriginKind::Derived;
        return draft.store(field, path, derived->first, derived->second);
      }
      return underived(path);
    }
    if (!field.optional)
      missing(path);
  }

  // Of packed samples the text says how many microbatches there are, and nothing how many a batch
  // has; of others one follows from the other.
  void underived(const std::string &path) {
    const bool ofText = path == "data.sequence" || path == "run.steps";
    const bool areRolesSpoiled =
        draft.isSpoiled("roles.actor.ranks") || draft.isSpoiled("roles.rollout.ranks");
    if ((path == "cluster.ranks" && !areRolesSpoiled) || (ofText && !draft.hasRounds()) ||
        (path == "roles.rollout.ranks" && !draft.isStated("roles.rollout")))
      return missing(path);
    const bool microbatches = path == "pipeline.microbatches", batch = path == "batch.global";
    const bool isRead = draft.isKnown("pipeline.microbatch");
    if (microbatches && isRead && isPacked(draft.job))
      return;
    if ((microbatches && !draft.isStated("batch.global") &&
         !draft.isSpoiled("pipeline.microbatch")) ||
        (batch && isRead && isPacked(draft.job) && !draft.hasRounds()))
      return missing(path);
    draft.spoil(path);
  }

  Derived derive(const std::string &path) const {
    if (draft.hasRounds())
      if (auto value = deriveOfRounds(draft, path))
        return value;
    if (path == "name")
      return fileName();
    if (path == "cluster.ranks")
      return ranksOfRoles();
    if (path == "roles.actor.ranks")
      return draft.hasRounds() ? ranksBeforeEngines() : allRanks();
    if (path == "roles.rollout.ranks")
      return ranksBehindActor();
    if (path == "roles.rollout.model" || path == "roles.ref.model")
      return from(draft.job.actor.model.value, {"roles.actor.model"});
    if (path == "roles.actor.parallel.pp")
      return ranksOfReplica();
    if (path == "pipeline.microbatches")
      return microbatchesOfBatch();
    if (path == "batch.global")
      return batchOfMicrobatches();
    if (path == "pipeline.chunks")
      return usualChunks();
    if (path == "pipeline.schedule_hash")
      return from(std::string(), {"pipeline.schedule"}); // of no table
    if (path == "pipeline.memory_limit")
      return from(draft.job.cluster.memory.value, {"cluster.memory"});
    if (modelNameIn(path).empty())
      return std::nullopt;
    const std::string model(sectionOf(path));
    if (path.ends_with(".kv_heads"))
      return from(std::uint64_t{configOf(model).heads}, {model + ".heads"});
    return headWidth(model);
  }

  Derived fileName() const {
    std::string name = std::filesystem::path(draft.job.file).stem().string();
    for (char &letter : name)
      if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_' && letter != '-' &&
          letter != '.')
        letter = '-';
    return std::pair(Value(name.empty() ? "job" : name.substr(0, 100)),
                     Origin{.span = draft.keySpan(""), .from = "the file's name"});
  }

  Derived allRanks() const {
    return from(RankRange{.first = 0, .count = draft.job.cluster.ranks.value}, {"cluster.ranks"});
  }

  Derived ranksOfRoles() const {
    const auto &actor = draft.job.actor;
    const auto &engines = draft.job.rolloutRole;
    if (!draft.isStated("roles.actor.ranks"))
      return from(std::uint64_t{engines.firstRank.value} + engines.ranks.value,
                  {"roles.rollout.ranks"});
    return from(std::uint64_t{std::max(actor.firstRank.value + actor.ranks.value,
                                       engines.firstRank.value + engines.ranks.value)},
                {"roles.actor.ranks", "roles.rollout.ranks"});
  }

  Derived ranksBeforeEngines() const {
    const std::uint32_t first = draft.job.rolloutRole.firstRank.value;
    return first == 0 ? std::nullopt
                      : from(RankRange{.first = 0, .count = first}, {"roles.rollout.ranks"});
  }

  // Nothing where the actor has all of them, which the rules report.
  Derived ranksBehindActor() const {
    const std::uint32_t all = draft.job.cluster.ranks.value,
                        first = draft.job.actor.firstRank.value + draft.job.actor.ranks.value;
    return first >= all ? std::nullopt
                        : from(RankRange{.first = first, .count = all - first},
                               {"cluster.ranks", "roles.actor.ranks"});
  }

  // Rounded down where they do not divide, which the rules report.
  Derived ranksOfReplica() const {
    constexpr const char *kRanks = "roles.actor.ranks", *kReplicas = "roles.actor.parallel.dp";
    if (!draft.isKnown(kRanks))
      return std::nullopt;
    const std::uint64_t ranks = draft.job.actor.ranks.value;
    if (!draft.isStated(kReplicas))
      return from(ranks, {kRanks});
    const std::uint64_t replicas = std::max(draft.job.actor.data.value, 1u);
    return from(std::max<std::uint64_t>(ranks / replicas, 1), {kRanks, kReplicas});
  }

  // Rounded down where they do not divide, which the rules report.
  Derived microbatchesOfBatch() const {
    if (!draft.areKnown({"batch.global", "pipeline.microbatch"}) || isPacked(draft.job))
      return std::nullopt;
    const std::uint64_t samples =
        draft.job.pipeline.microbatch.value.count * std::max(draft.job.actor.data.value, 1u);
    return from(std::max<std::uint64_t>(draft.job.batch.global.value / samples, 1),
                {"batch.global", "pipeline.microbatch"});
  }

  Derived batchOfMicrobatches() const {
    if (draft.hasRounds() || !draft.isKnown("pipeline.microbatch") || isPacked(draft.job))
      return std::nullopt;
    return from(draft.job.pipeline.microbatch.value.count * draft.job.pipeline.microbatches.value *
                    std::max(draft.job.actor.data.value, 1u),
                {"pipeline.microbatches", "pipeline.microbatch", "roles.actor.parallel.dp"});
  }

  Derived usualChunks() const {
    const Order *order = findOrder(draft.job.pipeline.schedule.value);
    return order ? from(static_cast<std::uint64_t>(order->chunks.usual), {"pipeline.schedule"})
                 : std::nullopt;
  }

  // Heads that do not divide are reported by the rules.
  Derived headWidth(const std::string &model) const {
    const ModelConfig &config = configOf(model);
    if (config.heads == 0 || config.hidden % config.heads != 0)
      return std::nullopt;
    return from(std::uint64_t{config.hidden / config.heads}, {model + ".hidden", model + ".heads"});
  }

  const ModelConfig &configOf(const std::string &model) const {
    return draft.model(modelNameIn(model + "."))->config;
  }

  Derived from(Value value, std::initializer_list<std::string> sources) const {
    return derivedFrom(draft, std::move(value), sources);
  }

  // A section that is missing is one error, whatever it should contain.
  void missing(const std::string &path) {
    draft.spoil(path);
    std::string outermost = path;
    for (std::string_view section = sectionOf(path); !section.empty(); section = sectionOf(section))
      if (!draft.isStated(std::string(section)))
        outermost = section;
    if (outermost != path)
      return remember(outermost, path);
    const std::string section(sectionOf(path));
    if (path == "version")
      draft
          .error(JobCode::Version, "`version` is missing", draft.keySpan(""),
                 "a job starts with its version")
          .withHelp("add `version: 1`");
    else
      draft
          .error(JobCode::MissingKey, '`' + path + "` is missing", draft.keySpan(section),
                 "lacks `" + std::string(findField(path)->key()) + '`')
          .note('`' + path + "` says: " + std::string(findField(path)->sentence));
  }

  void remember(const std::string &section, const std::string &path) {
    const auto found = std::find_if(missingSections.begin(), missingSections.end(),
                                    [&](const auto &entry) { return entry.first == section; });
    if (found == missingSections.end())
      missingSections.push_back({section, {path}});
    else
      found->second.push_back(path);
  }

  void reportSection(const std::string &section, const std::vector<std::string> &keys) {
    std::string list;
    for (const std::string &key : keys)
      list += (list.empty() ? "" : ", ") + ('`' + key + '`');
    draft.error(JobCode::MissingKey, "section `" + section + "` is missing", draft.keySpan(section))
        .note('`' + section + "` says: " + std::string(findField(section)->sentence))
        .note(section == "models" ? "a job needs a model" : "a job needs " + list);
  }

  Draft &draft;
  std::vector<std::pair<std::string, std::vector<std::string>>> missingSections; // in table order
};

} // namespace

void complete(Draft &draft) { Completion(draft).run(); }

} // namespace vime
