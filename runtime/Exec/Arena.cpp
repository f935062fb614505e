#include "runtime/Exec/Arena.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace vime {
namespace {

/// An entry of one of the kernel's tables, in bytes.
std::optional<std::uint64_t> memoryEntry(const char *path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word)
    if (std::uint64_t kibibytes = 0; word == name && file >> kibibytes)
      return kibibytes * 1024;
  return std::nullopt;
}

} // namespace

StatusOr<Arena> Arena::reserve(std::uint64_t bytes, Edge edge) {
  Arena arena;
  if (bytes == 0)
    return arena;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = (bytes + page - 1) / page * page;
  const std::size_t guard = edge == Edge::Guarded ? page : 0;
  void *mapping = mmap(nullptr, usable + guard, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapping == MAP_FAILED)
    return Status(StatusCode::Unacceptable,
                  fmt::format("cannot reserve {} bytes for the buffers of a rank: {}", bytes,
                              std::strerror(errno)));
  arena.mapping = mapping;
  arena.mapped = usable + guard;
  arena.bytes = bytes;
  // Guarded: the last byte lies right before the guard, so that the first one may lie inside a
  // page.
  arena.first = static_cast<std::byte *>(mapping) + (guard != 0 ? usable - bytes : 0);
  if (guard != 0 && mprotect(static_cast<std::byte *>(mapping) + usable, guard, PROT_NONE) != 0)
    return Status(StatusCode::Internal,
                  fmt::format("cannot guard an arena: {}", std::strerror(errno)));
  return arena;
}

Arena::Arena(Arena &&other) noexcept { *this = std::move(other); }

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  std::swap(first, other.first);
  std::swap(bytes, other.bytes);
  return *this;
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mapped);
}

std::uint64_t availableMemory() {
  return memoryEntry("/proc/meminfo", "MemAvailable:")
      .value_or(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t mostResidentMemory() {
  return memoryEntry("/proc/self/status", "VmHWM:").value_or(0);
}

} // namespace vime
