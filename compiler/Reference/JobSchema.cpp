// The JSON Schema of a job. Stricter than nothing and never stricter than the reader: what depends
// on other values is the reader's to judge.
#include "compiler/Reference/JobSchema.h"

#include <nlohmann/json.hpp>

#include "compiler/Frontend/FieldRows.h"
#include "compiler/Reference/FieldWords.h"

namespace vime {

namespace {

using Json = nlohmann::ordered_json;

// Number and unit, as `splitUnit` takes them apart.
constexpr const char *kBytes = "^[0-9][0-9.]* ?(B|KiB|MiB|GiB|TiB)$";
constexpr const char *kSeconds = "^[0-9][0-9.e+-]* ?(ns|us|ms|s|min|h)$";

void limit(Json &json, const FieldSpec &field) {
  const bool isWhole = field.type == FieldType::Count || field.type == FieldType::Counts ||
                       field.type == FieldType::PerRank || field.type == FieldType::Tokens;
  const auto number = [&](double value) {
    return isWhole ? Json(static_cast<std::uint64_t>(value)) : Json(value);
  };
  if (field.least != 0 || field.most != 0)
    json[field.above ? "exclusiveMinimum" : "minimum"] = number(field.least);
  if (field.most != 0 && field.most < (isWhole ? kMostWhole : kMostReal))
    json[field.below ? "exclusiveMaximum" : "maximum"] = number(field.most);
}

// A dot of a file's ending stands for itself.
std::string escaped(std::string_view ending) {
  std::string pattern;
  for (const char letter : ending)
    pattern += letter == '.' ? std::string("\\.") : std::string(1, letter);
  return pattern;
}

Json typeOf(const FieldSpec &field) {
  Json json;
  switch (field.type) {
  case FieldType::Count:
    if (!field.unit.empty()) // `1 sample`, `4 samples`
      return {{"type", "string"}, {"pattern", "^[0-9]+ " + std::string(field.unit) + "?$"}};
    json = {{"type", "integer"}};
    limit(json, field);
    return json;
  case FieldType::Amount:
    return {{"type", "string"},
            {"pattern",
             "^[0-9]+ (" + std::string(field.unit) + "?|" + std::string(field.otherUnit) + "?)$"}};
  case FieldType::Number:
    json = {{"type", "number"}};
    limit(json, field);
    return json;
  case FieldType::Bytes:
    return {{"type", "string"}, {"pattern", kBytes}};
  case FieldType::Seconds:
    return {{"type", "string"}, {"pattern", kSeconds}};
  case FieldType::Word:
    json = {{"enum", Json::array()}};
    for (const std::string_view word : field.words)
      json["enum"].push_back(word);
    if (std::find(field.words.begin(), field.words.end(), "null") != field.words.end())
      json["enum"].push_back(nullptr); // what YAML makes of the word
    if (field.fileEnding.empty())
      return json;
    return {{"anyOf",
             {json, {{"type", "string"}, {"pattern", "." + escaped(field.fileEnding) + "$"}}}}};
  case FieldType::Counts:
    json = {{"type", "integer"}};
    limit(json, field);
    json = {{"type", "array"}, {"items", json}, {"minItems", field.leastItems}};
    if (field.mostItems > 0)
      json["maxItems"] = field.mostItems;
    if (field.layoutText)
      return {{"anyOf", {json, {{"type", "string"}, {"pattern", "^[EtL|()*0-9, ]+$"}}}}};
    return json;
  case FieldType::PerRank:
    json = {{"type", "integer"}};
    limit(json, field);
    return {{"anyOf",
             {{{"enum", {field.fallback}}},
              json,
              {{"type", "array"}, {"items", json}, {"minItems", 1}}}}};
  case FieldType::Name:
    return {{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]+$"}};
  case FieldType::Ranks:
    return {{"type", Json::array({"string", "integer"})}, {"pattern", "^[0-9]+(-[0-9]+)?$"}};
  case FieldType::Pair:
    json = {{"type", "number"}};
    limit(json, field);
    if (Json pair = {{"type", "array"}, {"items", json}, {"minItems", 2}, {"maxItems", 2}};
        !field.oneForBoth)
      return pair;
    else
      return {{"anyOf", {json, pair}}};
  case FieldType::Tokens:
    json = {{"type", "integer"}};
    limit(json, field);
    json = {{"anyOf", {json, {{"type", "string"}, {"minLength", 1}, {"maxLength", 1}}}}};
    return {
        {"anyOf",
         {json,
          {{"type", "array"}, {"items", json}, {"minItems", 1}, {"maxItems", field.mostItems}}}}};
  default:
    return {{"type", "string"}, {"minLength", 1}};
  }
}

// Whether another field of the section may name a file that says this one.
bool mayBeInAFile(const FieldSpec &field) {
  for (const FieldSpec &other : fieldTable())
    if (sectionOf(other.path) == sectionOf(field.path) && !other.fileEnding.empty())
      return &other != &field;
  return false;
}

// A value that cannot be derived: without it there is no job.
bool isRequired(const FieldSpec &field) {
  if (field.isLater() || field.optional || field.presence != Presence::Always ||
      !field.fallback.empty() || !field.derivedFrom.empty())
    return false;
  if (field.type != FieldType::Section)
    return field.family.empty() && sectionOf(field.path) != "models.*" && !mayBeInAFile(field);
  for (const FieldSpec &other : fieldTable())
    if (sectionOf(other.path) == field.path && isRequired(other))
      return true;
  return field.path == "models";
}

// A value as an editor writes it: numbers and lists are none of them text.
Json literal(const FieldSpec &field, std::string_view text) {
  const bool isText = field.type == FieldType::Word || field.type == FieldType::Name ||
                      field.type == FieldType::Path || field.type == FieldType::Text;
  Json value = isText ? Json(text) : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? Json(text) : value;
}

Json schemaOf(std::string_view section) {
  Json properties = Json::object(), required = Json::array();
  Json json = {{"type", "object"}};
  for (const FieldSpec &field : fieldTable()) {
    const bool isHere = !field.path.empty() && sectionOf(field.path) == section && !field.isLater();
    if (!isHere || field.path == section)
      continue;
    Json value = field.type == FieldType::Section ? schemaOf(field.path) : typeOf(field);
    value["description"] = field.sentence;
    if (!field.fallback.empty())
      value["default"] = literal(field, field.fallback);
    if (field.type != FieldType::Section)
      value["examples"] = Json::array({literal(field, exampleValueOf(field))});
    if (field.key() == "*")
      json["additionalProperties"] = value;
    else
      properties[std::string(field.key())] = value;
    if (isRequired(field) && field.key() != "*")
      required.push_back(field.key());
  }
  if (!json.contains("additionalProperties")) {
    json["properties"] = properties;
    json["additionalProperties"] = false;
  } else {
    json["minProperties"] = 1;
  }
  if (!required.empty())
    json["required"] = required;
  return json;
}

} // namespace

std::string jobSchema() {
  Json json = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "job.yaml"}};
  json.update(schemaOf(""));
  return json.dump(2);
}

} // namespace vime
