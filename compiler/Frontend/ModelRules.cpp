// checkModels: J over the sizes of a model.
#include <algorithm>
#include <map>
#include <string>

#include "compiler/Frontend/Rules.h"

namespace vime {

namespace {

constexpr std::uint32_t kByteTokens = 256;

// `only `qwen2` and `qwen3` have it`.
std::string onlyOf(const FieldSpec &field) {
  std::string list;
  std::size_t families = 0;
  for (std::string_view rest = field.family; !rest.empty(); ++families) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const bool isLast = end == rest.size();
    list += (list.empty() ? "" : isLast ? " and " : ", ") + code(rest.substr(0, end));
    rest.remove_prefix(isLast ? end : end + 1);
  }
  return "only " + list + (families == 1 ? " has it" : " have it");
}

// A value of another family than the model's, and a dtype that nobody computes with.
void checkUnusedValues(Draft &draft) {
  for (const Job::NamedModel &model : draft.job.models) {
    const std::string section = "models." + model.name;
    if (!draft.isKnown(section + ".family"))
      continue;
    for (const auto &[path, span] : std::map(draft.statedKeys())) {
      const FieldSpec *field = sectionOf(path) == section ? findField(path) : nullptr;
      if (field && !draft.hasField(model, *field))
        draft
            .error(JobCode::UnusedValue,
                   code(path) + " has no use: models of family " +
                       code(nameOf(model.config.family)) + " do not have it",
                   span, onlyOf(*field))
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
  if (draft.areKnown({section + ".heads", section + ".kv_heads"}) &&
      config.heads % config.kvHeads != 0) {
    draft
        .error(JobCode::Heads,
               counted(config.heads, "head") + " cannot share " +
                   counted(config.kvHeads, "key-value head") + " evenly",
               place(".kv_heads"), "does not divide " + text(config.heads))
        .note("the heads", place(".heads"))
        .withHelp("write `kv_heads: " + text(nearestDivisor(config.kvHeads, config.heads)) + '`');
    return false;
  }
  const bool widthIsKnown = draft.isKnown(section + ".head_width");
  if (draft.areKnown({section + ".hidden", section + ".heads"}) && !widthIsKnown &&
      !draft.isStated(section + ".head_width") && !draft.isOpen(section + ".head_width")) {
    draft
        .error(JobCode::Heads,
               "a width of " + text(config.hidden) + " cannot be shared by " +
                   counted(config.heads, "head") + " evenly",
               place(".hidden"), "no multiple of " + text(config.heads))
        .note("the heads", place(".heads"))
        .withHelp("write `hidden: " + text(nearestMultiple(config.hidden, 2 * config.heads)) +
                  "`, or state `head_width`");
    return false;
  }
  if (widthIsKnown && config.headWidth % 2 != 0) {
    draft
        .error(JobCode::Heads,
               "heads of width " + text(config.headWidth) +
                   ": rotary positions turn pairs, so the width must be even",
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
      .error(JobCode::Vocabulary,
             "a vocabulary of " + text(model.config.vocab) +
                 " is too small for text: a token is one of 256 bytes",
             draft.origin(path).span, "at least 256")
      .withHelp("write `vocab: 256`");
}

// What ModelSpec refuses beyond the rules above.
void checkConfig(Draft &draft, const Job::NamedModel &model) {
  for (const FieldSpec &field : fieldTable())
    if (sectionOf(field.path) == "models.*" && field.hasValue() && !field.optional &&
        draft.hasField(model, field) &&
        !draft.isKnown("models." + model.name + '.' + std::string(field.key())))
      return;
  if (const Status status = check(model.config); !status.ok())
    draft.error(JobCode::ModelRefused,
                "model " + code(model.name) + " cannot be built: " + status.message(), model.span);
}

void checkModel(Draft &draft, const Job::NamedModel &model) {
  if (!draft.isKnown("models." + model.name + ".family"))
    return;
  if (model.config.family == ModelFamily::TorchScript)
    checkVocabulary(draft, model);
  if (!isDecoder(model.config.family))
    return checkConfig(draft, model);
  checkVocabulary(draft, model);
  if (checkHeads(draft, model))
    checkConfig(draft, model);
}

} // namespace

void checkModels(Draft &draft) {
  checkUnusedValues(draft);
  for (const Job::NamedModel &model : draft.job.models)
    checkModel(draft, model);
}

} // namespace vime
