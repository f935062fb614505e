// ByteSource: a plan's bytes, in a file or in memory, read piece by piece.
//
// Files are read, not mapped: what was checked is then what is used, whatever happens to the file
// meanwhile, and one that shrinks gives an error where a mapping would give SIGBUS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"

namespace vime::plan {

class ByteSource {
public:
  static StatusOr<ByteSource> open(const std::string &path);
  explicit ByteSource(std::string_view memory) : memory(memory), length(memory.size()) {}
  ByteSource(ByteSource &&other) noexcept;
  ~ByteSource();
  ByteSource &operator=(const ByteSource &) = delete;

  /// When it was opened.
  std::uint64_t size() const { return length; }

  /// Exactly `count` bytes from `offset`, which lie within `size()`.
  Status read(std::uint64_t offset, void *to, std::size_t count) const;

private:
  ByteSource() = default;
  std::string path;
  std::string_view memory;
  int descriptor = -1;
  std::uint64_t length = 0;
};

} // namespace vime::plan
