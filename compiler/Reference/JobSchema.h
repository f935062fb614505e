// JobSchema: the field table as a JSON Schema and as the reference page of compiler/docs/job.md.
#pragma once

#include <string>

namespace vime {

/// JSON Schema (draft 7, as yaml-language-server reads it) of job.yaml.
std::string jobSchema();

/// A table in Markdown for each section, field by field.
std::string jobReference();

/// Section 5 of the manual: vime-job(5).
std::string jobManPage(const std::string &version);

} // namespace vime
