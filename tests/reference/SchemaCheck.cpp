#include "tests/reference/SchemaCheck.h"

#include <charconv>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

namespace vime {
namespace {

using nlohmann::json;

bool hasType(const std::string &type, const json &value) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
         (type == "integer" && value.is_number_integer());
}

std::string typeProblem(const json &types, const json &value) {
  for (const json &type : types.is_array() ? types : json::array({types}))
    if (hasType(type, value))
      return "";
  return "of another type";
}

std::string numberProblem(const json &schema, double value) {
  if (schema.contains("minimum") && value < schema["minimum"])
    return "below the minimum";
  if (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"])
    return "not above the minimum";
  if (schema.contains("maximum") && value > schema["maximum"])
    return "above the maximum";
  if (schema.contains("exclusiveMaximum") && value >= schema["exclusiveMaximum"])
    return "not below the maximum";
  return "";
}

std::string objectProblem(const json &schema, const json &value, const std::string &path) {
  for (const json &key : schema.value("required", json::array()))
    if (!value.contains(key))
      return path + ": lacks " + key.get<std::string>();
  if (value.size() < schema.value("minProperties", 0u))
    return path + ": too few keys";
  for (const auto &[key, member] : value.items()) {
    const json properties = schema.value("properties", json::object());
    const json rest = schema.value("additionalProperties", json(true));
    if (!properties.contains(key) && rest == false)
      return path + ": no key " + key;
    const json &known = properties.contains(key) ? properties[key] : rest;
    if (const std::string problem = problemOf(known, member, path.empty() ? key : path + '.' + key);
        !problem.empty())
      return problem;
  }
  return "";
}

} // namespace

json jsonOf(const Node &node) {
  json value;
  switch (node.kind) {
  case Node::Kind::Empty:
    return nullptr;
  case Node::Kind::Mapping:
    value = json::object();
    for (const Entry &entry : node.entries)
      value[entry.key] = jsonOf(entry.value);
    return value;
  case Node::Kind::List:
    value = json::array();
    for (const Node &item : node.items)
      value.push_back(jsonOf(item));
    return value;
  case Node::Kind::Scalar:
    break;
  }
  if (node.quoted)
    return node.text;
  if (node.text == "null")
    return nullptr;
  if (std::regex_match(node.text, std::regex("-?[0-9]+")))
    return std::stoll(node.text.substr(0, 18));
  double number = 0;
  const char *end = node.text.data() + node.text.size();
  if (std::from_chars(node.text.data(), end, number).ptr == end && !node.text.empty())
    return number;
  return node.text;
}

std::string problemOf(const json &schema, const json &value, const std::string &path) {
  static const std::set<std::string> kKnown = {"$schema",
                                               "title",
                                               "type",
                                               "enum",
                                               "pattern",
                                               "minimum",
                                               "maximum",
                                               "items",
                                               "default",
                                               "minItems",
                                               "exclusiveMinimum",
                                               "exclusiveMaximum",
                                               "required",
                                               "maxItems",
                                               "examples",
                                               "minProperties",
                                               "description",
                                               "properties",
                                               "minLength",
                                               "maxLength",
                                               "anyOf",
                                               "additionalProperties"};
  for (const auto &[key, said] : schema.items())
    if (!kKnown.contains(key))
      return path + ": unknown keyword " + key;
  for (const json &choice : schema.value("anyOf", json::array()))
    if (problemOf(choice, value, path).empty())
      return "";
  if (schema.contains("anyOf"))
    return path + ": none of the choices";
  std::string problem = schema.contains("type") ? typeProblem(schema["type"], value) : "";
  if (problem.empty() && schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
    problem = "none of the words";
  if (problem.empty() && schema.contains("pattern") && value.is_string() &&
      !std::regex_search(value.get<std::string>(),
                         std::regex(schema["pattern"].get<std::string>())))
    problem = "of another form";
  if (problem.empty() && value.is_string() &&
      value.get<std::string>().size() < schema.value("minLength", 0u))
    problem = "empty";
  if (problem.empty() && value.is_string() && schema.contains("maxLength") &&
      value.get<std::string>().size() > schema["maxLength"])
    problem = "too long";
  if (problem.empty() && value.is_number())
    problem = numberProblem(schema, value);
  if (!problem.empty())
    return path + ": " + problem;
  if (value.is_array()) {
    if (value.size() < schema.value("minItems", 0u) || value.size() > schema.value("maxItems", 99u))
      return path + ": of another length";
    for (const json &item : value)
      if (const std::string ofItem = problemOf(schema.value("items", json::object()), item, path);
          !ofItem.empty())
        return ofItem;
  }
  return value.is_object() ? objectProblem(schema, value, path) : "";
}

} // namespace vime
