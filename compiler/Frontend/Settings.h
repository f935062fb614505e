// Settings: values that the command line gives a job, `--set run.steps=4`, as if the file said so.
//
//   applySettings(root, {"run.steps=4", "models.policy.layers=2"}, findings);
//
// They take the place of what the file says, under whatever name it says it, or are added to it;
// then everything is judged. What is wrong with one has no line: its place is `--set run.steps=4`.
#pragma once

#include <span>
#include <string>

#include "compiler/Frontend/Document.h"

namespace vime {

/// Whether a text is `field=value`, the field words between dots.
bool isSetting(std::string_view text);

/// All are settings by `isSetting`; `root` is a mapping. The value is YAML.
void applySettings(Node &root, std::span<const std::string> settings, Findings &findings);

} // namespace vime
