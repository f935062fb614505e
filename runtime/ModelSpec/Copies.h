// Copies: a model whose stages stand in a plan several times, one copy behind the other.
//
//   depthOf(stages)             // stages of one copy
//   microbatch % copiesOf(...)  // the copy that a microbatch of a step passes through
//
// Which stages are copies of one another follows from their layers: a stage with the head ends a
// copy, and the next one begins again with the embedding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// Stages of one copy.
std::uint32_t depthOf(std::span<const StageRange> stages);
std::uint32_t copiesOf(std::span<const StageRange> stages);

/// The first stage that does not go on where the one before it ended, or, of a later copy, is not
/// its like in the first; nothing if all do. Not looked at: how many layers there are.
std::optional<std::size_t> findMisplaced(std::span<const StageRange> stages);

} // namespace vime
