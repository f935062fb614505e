// Scratch: hands out the areas of a workspace, each at a multiple of a cache line.
#pragma once

#include "kernels/Cpu/Simd.h"

namespace vime::ISA {

class Scratch {
public:
  explicit Scratch(void *workspace) : next(reinterpret_cast<std::uintptr_t>(workspace)) {}

  template <typename T> VIME_INLINE T *take(std::int64_t count) {
    next = (next + kAlignment - 1) / kAlignment * kAlignment;
    T *area = reinterpret_cast<T *>(next);
    next += std::uintptr_t(count) * sizeof(T);
    return area;
  }

private:
  static constexpr std::uintptr_t kAlignment = 64;
  std::uintptr_t next;
};

} // namespace vime::ISA
