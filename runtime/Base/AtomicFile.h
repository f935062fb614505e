// AtomicFile: a file that appears whole under its name, or not at all.
//
//   writeFileAtomically("plan.bin", pieces)   // whoever opens plan.bin sees the old one or the new
//
// Bytes go to a file beside it, `plan.bin.<process>-<attempt>.partial`, and to the disk; then that
// file takes the name. What is no regular file (`/dev/null`, a pipe) is written as it is, for a
// rename would put a file in its place.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"

namespace vime {

/// The pieces one behind the other. On failure nothing is left behind, and an older file stays
/// (File). A symbolic link stays one.
Status writeFileAtomically(const std::string &path,
                           std::span<const std::span<const std::byte>> pieces);
Status writeFileAtomically(const std::string &path, std::string_view text);

/// Which file a process that was killed while writing left this one of; other names as they are:
/// `plan.bin` of `plan.bin.17-0.partial`.
std::string_view finalNameOf(std::string_view name);

/// Makes renames inside a directory durable.
Status syncDirectory(const std::string &path);

} // namespace vime
