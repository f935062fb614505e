// FencedBytes: scratch memory of an exact size between two unreachable pages, flush with the one
// before it or the one behind it.
//
//   FencedBytes workspace(linearWorkspace(type, linear), FencedBytes::Flush::Behind);
//   … workspace.filled(std::byte{0xff}) …   // a byte too many is a fault
//   workspace.close();                      // now any byte is
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace vime {

class FencedBytes {
public:
  enum class Flush { Before, Behind };
  /// Flush with a page behind, `size` must be a multiple of an element for kernels.
  FencedBytes(std::size_t size, Flush flush)
      : size(size), room((size + kPage - 1) / kPage * kPage),
        shift(flush == Flush::Behind ? room - size : 0) {
    void *mapped = mmap(nullptr, room + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    mapping = static_cast<std::byte *>(mapped);
    if (mprotect(mapping + kPage, room, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
  }
  ~FencedBytes() { munmap(mapping, room + 2 * kPage); }
  FencedBytes(const FencedBytes &) = delete;

  std::byte *data() const { return mapping + kPage + shift; }
  void *filled(std::byte value) {
    std::memset(data(), int(value), size);
    return data();
  }
  /// Bytes up to the last one that is not `value`.
  std::size_t usedBytes(std::byte value) const {
    std::size_t used = size;
    while (used > 0 && data()[used - 1] == value)
      --used;
    return used;
  }
  void close() { mprotect(mapping + kPage, room, PROT_NONE); }

private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size, room, shift;
  std::byte *mapping;
};

} // namespace vime
