// GuardedRegion: memory of an exact size that ends where an unreachable page begins. An access
// behind it is a fault, one before it too, but for what is left of the first page: what is written
// there is noticed.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace vime {

class GuardedRegion {
public:
  /// Filled with 0xFF: a float or double that is not a number, so that reading before writing
  /// shows.
  explicit GuardedRegion(std::size_t bytes)
      : size(bytes), room((bytes + kPage - 1) / kPage * kPage) {
    void *mapped = mmap(nullptr, room + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    mapping = static_cast<std::byte *>(mapped);
    if (room != 0 && mprotect(front(), room, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    std::memset(front(), kFenceByte, room - size);
    poison();
  }
  GuardedRegion(GuardedRegion &&other) noexcept
      : size(other.size), room(other.room), mapping(std::exchange(other.mapping, nullptr)) {}
  ~GuardedRegion() {
    if (mapping)
      munmap(mapping, room + 2 * kPage);
  }

  void *data() const { return front() + (room - size); }
  std::size_t bytes() const { return size; }
  void poison() { std::memset(data(), 0xFF, size); }
  bool fencesIntact() const {
    for (const std::byte *at = front(); at < data(); ++at)
      if (*at != std::byte(kFenceByte))
        return false;
    return true;
  }
  /// From the start to the last byte that was written since it was poisoned.
  std::size_t usedBytes() const {
    const auto *first = static_cast<const std::byte *>(data());
    std::size_t used = size;
    while (used > 0 && first[used - 1] == std::byte(0xFF))
      --used;
    return used;
  }

private:
  static constexpr std::size_t kPage = 4096;
  static constexpr int kFenceByte = 0xA5;
  std::byte *front() const { return mapping + kPage; }

  std::size_t size, room; // room: in whole pages
  std::byte *mapping = nullptr;
};

} // namespace vime
