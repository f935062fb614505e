// FieldWords: the columns of a row of the field table in words, the same on every page about it.
//
//   kindOf(field)     // "a number of samples", "one of `gpipe`, `1f1b`"
//   rangeOf(field)    // "1 to 65536", "above 0", or ""
//   originOf(field)   // "`cpu`", "derived from cluster.ranks", "none: it must be stated"
//   exampleOf(field)  // "pipeline: {microbatch: 4 samples}"
#pragma once

#include <string>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

std::string kindOf(const FieldSpec &field);
std::string rangeOf(const FieldSpec &field);
std::string originOf(const FieldSpec &field);

/// A legal value, as text.
std::string exampleValueOf(const FieldSpec &field);
/// The same in its sections, on one line.
std::string exampleOf(const FieldSpec &field);

/// `models.*.layers` → `models.NAME.layers`.
std::string shownPath(const FieldSpec &field);

} // namespace vime
