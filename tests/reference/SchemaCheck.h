// SchemaCheck: judges a document by the part of JSON Schema that ours uses.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "compiler/Frontend/Document.h"

namespace vime {

/// As YAML's core schema reads it.
nlohmann::json jsonOf(const Node &node);

/// Where the value is not what the schema says: `run.steps: above the maximum`; "" if it is. An
/// unknown keyword of the schema is an error of its own.
std::string problemOf(const nlohmann::json &schema, const nlohmann::json &value,
                      const std::string &path = "");

} // namespace vime
