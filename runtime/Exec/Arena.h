// Arena: the memory of one tier of one rank, exactly as many bytes as the layout says, reserved
// once.
//
//   StatusOr<Arena> arena = Arena::reserve(layout.arena[0]);
//   arena->data() + buffer.offset
//
// Every page is touched at the start: a run that does not fit fails before its first step, and no
// step pays for a fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/Base/Status.h"

namespace vime {

class Arena {
public:
  /// Guarded: an access behind the last byte is a segmentation fault (tests). `Unacceptable` when
  /// there is not enough memory.
  enum class Edge { Plain, Guarded };
  static StatusOr<Arena> reserve(std::uint64_t bytes, Edge edge = Edge::Plain);

  Arena() = default;
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  /// Aligned to 64 bytes (to a page unless guarded), zeroed; null when empty.
  std::byte *data() const { return first; }
  std::uint64_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  std::size_t mapped = 0;
  std::byte *first = nullptr;
  std::uint64_t bytes = 0;
};

/// Bytes that this machine can still give without swapping; all that fits a number when it does not
/// say.
std::uint64_t availableMemory();

/// Most bytes that this process has had resident so far; 0 when this machine does not say.
std::uint64_t mostResidentMemory();

} // namespace vime
