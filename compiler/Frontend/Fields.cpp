// A job to its flat list of fields and back.
#include "compiler/Frontend/Fields.h"

#include <array>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/FieldTable.h"

namespace vime {

namespace {

constexpr std::array<std::string_view, 3> kOriginNames = {"given", "default", "derived"};

bool isEmpty(const Value &value) {
  if (const auto *number = std::get_if<std::uint64_t>(&value))
    return *number == 0;
  if (const auto *real = std::get_if<double>(&value))
    return *real == 0;
  if (const auto *list = std::get_if<CountList>(&value))
    return list->empty();
  if (const auto *amount = std::get_if<Quantity>(&value))
    return amount->count == 0;
  const auto *text = std::get_if<std::string>(&value);
  return text && (text->empty() || *text == "false");
}

void addField(const FieldSpec &field, const Job &job, const Job::NamedModel *model,
              std::vector<ResolvedField> &fields) {
  const Value value = field.binding.load(job, model);
  if (!has(job, field.presence))
    return;
  if (field.optional && isEmpty(value))
    return;
  if (model && !field.isOf(nameOf(model->config.family)))
    return;
  Origin origin = field.binding.origin(job, model, field.key());
  fields.push_back({.path = model ? "models." + model->name + '.' + std::string(field.key())
                                  : std::string(field.path),
                    .valueText = printValue(field, value),
                    .origin = origin.kind,
                    .span = std::move(origin.span),
                    .from = std::move(origin.from)});
}

bool isName(std::string_view text) {
  const FieldSpec name{.type = FieldType::Name};
  return std::holds_alternative<Value>(parseValue(name, text));
}

bool isModelField(const FieldSpec &field) { return field.path.starts_with("models.*."); }

void stateSections(Draft &draft, const std::string &path, const SourceSpan &span) {
  for (std::string_view section = sectionOf(path);; section = sectionOf(section)) {
    draft.state(std::string(section), span);
    if (section.empty())
      break;
  }
  const std::string_view model = modelNameIn(path);
  if (!model.empty() && !draft.model(model))
    draft.job.models.push_back({.name = std::string(model), .span = span});
}

void readField(Draft &draft, const ResolvedField &field) {
  const FieldSpec *row = findField(field.path);
  if (!row || !row->hasValue()) {
    draft.error(JobCode::UnknownKey, "no field is called `" + printable(field.path) + '`',
                field.span);
    return;
  }
  if (draft.isKnown(field.path) || draft.isSpoiled(field.path)) {
    draft.error(JobCode::DuplicateKey, '`' + field.path + "` is stated twice", field.span);
    return;
  }
  if (const std::string_view model = modelNameIn(field.path); !model.empty() && !isName(model)) {
    draft.error(JobCode::Name, "a model cannot be named `" + printable(model) + '`', field.span);
    return;
  }
  stateSections(draft, field.path, field.span);
  draft.state(field.path, field.span);
  const auto parsed = parseValue(*row, field.valueText);
  if (const auto *problem = std::get_if<ValueProblem>(&parsed)) {
    draft
        .error(problem->code, '`' + field.path + "` " + problem->message, field.span,
               problem->label)
        .withHelp(problem->help);
    draft.spoil(field.path);
    return;
  }
  draft.store(*row, field.path, std::get<Value>(parsed), {field.origin, field.span, field.from});
}

} // namespace

std::vector<ResolvedField> fieldsOf(const Job &job) {
  std::vector<ResolvedField> fields;
  for (const FieldSpec &field : fieldTable()) {
    if (field.path == "models.*")
      for (const Job::NamedModel &model : job.models)
        for (const FieldSpec &ofModel : fieldTable())
          if (isModelField(ofModel) && ofModel.hasValue())
            addField(ofModel, job, &model, fields);
    if (field.hasValue() && !isModelField(field))
      addField(field, job, nullptr, fields);
  }
  return fields;
}

std::optional<Job> jobFromFields(std::string file, std::span<const ResolvedField> fields,
                                 Findings &findings) {
  const std::size_t before = findings.size();
  Draft draft(std::move(file), findings);
  for (const ResolvedField &field : fields)
    readField(draft, field);
  draft.markKnown("version");
  complete(draft);
  checkRules(draft);
  return findings.size() == before ? std::optional(std::move(draft.job)) : std::nullopt;
}

std::string_view nameOf(OriginKind origin) {
  return kOriginNames[static_cast<std::size_t>(origin)];
}

std::optional<OriginKind> originFromName(std::string_view name) {
  for (std::size_t kind = 0; kind < kOriginNames.size(); ++kind)
    if (kOriginNames[kind] == name)
      return static_cast<OriginKind>(kind);
  return std::nullopt;
}

} // namespace vime
