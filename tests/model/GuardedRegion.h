// GuardedRegion: memory of an exact size between two fences; anything written beside it is noticed.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

namespace vime {

class GuardedRegion {
public:
  /// Filled with 0xFF: a float or double that is not a number, so that reading before writing
  /// shows.
  explicit GuardedRegion(std::size_t bytes)
      : size(bytes), memory(new(std::align_val_t(64)) std::byte[bytes + 2 * kFence]) {
    std::memset(memory.get(), kFenceByte, bytes + 2 * kFence);
    poison();
  }
  void *data() const { return memory.get() + kFence; }
  std::size_t bytes() const { return size; }
  void poison() { std::memset(data(), 0xFF, size); }
  bool fencesIntact() const {
    const std::byte *before = memory.get(), *behind = before + kFence + size;
    for (std::size_t at = 0; at < kFence; ++at)
      if (before[at] != std::byte(kFenceByte) || behind[at] != std::byte(kFenceByte))
        return false;
    return true;
  }

private:
  static constexpr std::size_t kFence = 4096;
  static constexpr int kFenceByte = 0xA5;
  struct Free {
    void operator()(std::byte *start) const { operator delete[](start, std::align_val_t(64)); }
  };
  std::size_t size;
  std::unique_ptr<std::byte[], Free> memory;
};

} // namespace vime
