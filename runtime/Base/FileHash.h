// FileHash: the XXH3-128 of bytes and of whole files, for noticing that they are others than
// before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

/// XXH3-128: low, high.
std::array<std::uint64_t, 2> hashBytes(std::span<const std::byte> bytes);

struct FileFingerprint {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2> hash{}; // XXH3-128: low, high
  bool operator==(const FileFingerprint &) const = default;
};

/// Reads the file once from beginning to end. File: it cannot be read, or is not a regular file.
StatusOr<FileFingerprint> hashFile(const std::string &path);

} // namespace vime
