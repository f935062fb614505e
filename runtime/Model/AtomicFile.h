// AtomicFile: a file that appears whole under its name, or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

/// Writes the pieces one behind the other to `<path>.partial`, brings them to the disk and renames.
/// On failure nothing is left behind (File).
Status writeFileAtomically(const std::string &path,
                           std::span<const std::span<const std::byte>> pieces);

/// Makes renames inside a directory durable.
Status syncDirectory(const std::string &path);

} // namespace vime
