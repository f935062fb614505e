// CountAllocations: how often this program's malloc and its relatives were called, counted by
// standing in for them.
#pragma once

#include <cstdint>
#include <optional>

namespace vime {

/// Calls of malloc, calloc, realloc, aligned_alloc and posix_memalign so far, on any thread;
/// `operator new` ends there. Nothing where AddressSanitizer has taken their place.
std::optional<std::uint64_t> allocationsSoFar();

} // namespace vime
