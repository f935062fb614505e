// FieldPage: a row of the field table as `vimec explain pipeline.schedule` prints it.
#pragma once

#include <optional>
#include <string>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

/// The row that a word means: `pipeline.chunks`, `models.policy.layers`, `models.NAME.layers`,
/// another system's name such as `num-layers`. Null if none.
const FieldSpec *lookUpField(std::string_view word);

/// The path that a word which is none was probably meant to be.
std::optional<std::string> nearestField(std::string_view word);

/// Type, range, default, phase, sentence and an example; of a section its keys.
std::string fieldPage(const FieldSpec &field);
/// One JSON object, indented.
std::string fieldJson(const FieldSpec &field);

} // namespace vime
