// FileHash: the XXH3 hash of a whole file, for noticing that it is another one than before.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

struct FileFingerprint {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2> hash{}; // XXH3-128: low, high
  bool operator==(const FileFingerprint &) const = default;
};

/// Reads the file once from beginning to end. File: it cannot be read, or is not a regular file.
StatusOr<FileFingerprint> hashFile(const std::string &path);

} // namespace vime
