// ChangeClass: what it takes to go on with a job in which a value has changed.
#pragma once

#include <cstdint>
#include <string_view>

namespace vime {

enum class ChangeClass : std::uint8_t {
  Frozen,    // what the samples mean, or what is trained: another run
  Recompile, // layout and memory: the same training by another plan
  Operations // intervals, names, limits: the same plan but for its settings
};

/// Of a field, by its path: `models.policy.layers`.
ChangeClass changeClassOf(std::string_view path);

/// `frozen`, `recompile`, `operations`.
std::string_view nameOf(ChangeClass kind);

} // namespace vime
