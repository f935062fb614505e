// Derived: a value that follows from others of its job.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "compiler/Frontend/Draft.h"

namespace vime {

using Derived = std::optional<std::pair<Value, Origin>>;

/// Nothing if one of the sources is not known. The place is that of the first source.
Derived derivedFrom(const Draft &draft, Value value, std::initializer_list<std::string> sources);

/// What `path` is where there are rounds; nothing if a source is not known, or it follows from
/// nothing of rounds.
Derived deriveOfRounds(const Draft &draft, const std::string &path);

} // namespace vime
