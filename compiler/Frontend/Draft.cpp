// Draft: bookkeeping of known and spoiled values.
#include "compiler/Frontend/Draft.h"

#include <algorithm>
#include <utility>

namespace vime {

Draft::Draft(std::string file, Findings &findings) : findings(findings) {
  job.file = std::move(file);
}

Finding &Draft::error(JobCode code, std::string message, SourceSpan span, std::string label) {
  return findings.error(Rule::J, number(code), std::move(message))
      .at(std::move(span), std::move(label));
}

void Draft::adopt(const Findings &found) {
  for (const Finding &finding : found.all())
    findings.all().push_back(finding);
}

bool Draft::has(Presence presence) const {
  const auto isAny = [&](std::initializer_list<const char *> paths) {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const char *path) { return isStated(path); });
  };
  const bool rounds =
      isAny({"roles.rollout", "rollout", "data.prompts", "run.rounds"}) ||
      (isAny({"reward", "algorithm", "batch.prompts", "data.max_prompt", "weight_sync"}) &&
       !isAny({"data.text", "run.steps"}));
  switch (presence) {
  case Presence::Always:
    break;
  case Presence::Text:
    return !rounds;
  case Presence::Rounds:
    return rounds;
  case Presence::Reference:
    return rounds && isStated("roles.ref");
  case Presence::Prompts:
    return rounds && isStated("eval.prompts");
  }
  return true;
}

SourceSpan Draft::keySpan(std::string_view path) const {
  while (true) {
    if (const auto found = keys.find(std::string(path)); found != keys.end())
      return found->second;
    if (path.empty())
      return {.file = job.file};
    path = sectionOf(path);
  }
}

void Draft::store(const FieldSpec &field, const std::string &path, const Value &value,
                  const Origin &origin) {
  if (field.binding.store)
    field.binding.store(job, model(modelNameIn(path)), field.key(), value, origin);
  markKnown(path);
}

bool Draft::areKnown(std::initializer_list<std::string> paths) const {
  return std::all_of(paths.begin(), paths.end(),
                     [this](const std::string &path) { return isKnown(path); });
}

bool Draft::isSpoiled(std::string_view path) const {
  for (; !path.empty(); path = sectionOf(path))
    if (spoiled.contains(path))
      return true;
  return spoiled.contains(path);
}

Value Draft::value(const std::string &path) const {
  return findField(path)->binding.load(job, model(modelNameIn(path)));
}

Origin Draft::origin(const std::string &path) const {
  const FieldSpec *field = findField(path);
  return field->binding.origin(job, model(modelNameIn(path)), field->key());
}

Job::NamedModel *Draft::model(std::string_view name) {
  return const_cast<Job::NamedModel *>(std::as_const(*this).model(name));
}

const Job::NamedModel *Draft::model(std::string_view name) const {
  for (const Job::NamedModel &candidate : job.models)
    if (candidate.name == name)
      return &candidate;
  return nullptr;
}

bool Draft::hasField(const Job::NamedModel &model, const FieldSpec &field) const {
  return isKnown("models." + model.name + ".family") && field.isOf(nameOf(model.config.family));
}

} // namespace vime
