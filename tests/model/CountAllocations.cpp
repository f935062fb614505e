#include "tests/model/CountAllocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#ifdef VIME_ADDRESS_SANITIZER // it stands in for malloc itself

namespace vime {
std::optional<std::uint64_t> allocationsSoFar() { return std::nullopt; }
} // namespace vime

#else

// glibc's own names for the functions that are replaced below.
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
}

namespace {
std::atomic<std::uint64_t> calls;
}

extern "C" {
void *malloc(std::size_t bytes) {
  ++calls;
  return __libc_malloc(bytes);
}
void *calloc(std::size_t count, std::size_t bytes) {
  ++calls;
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, std::size_t bytes) {
  ++calls;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++calls;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **to, std::size_t alignment, std::size_t bytes) {
  ++calls;
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : ENOMEM;
}
}

namespace vime {
std::optional<std::uint64_t> allocationsSoFar() { return calls; }
} // namespace vime

#endif
