// Limits: the numbers beyond which no order is built, read or timed.
#pragma once

#include <cstdint>

namespace vime {

inline constexpr int kMaxRanks = 1024;
inline constexpr int kMaxChunks = 64;
inline constexpr int kMaxMicrobatches = 1 << 20;
inline constexpr int kMaxSlices = 64;
inline constexpr int kMaxMemory = 1 << 22;                          // activations alive on a rank
inline constexpr int kMaxCost = 1 << 20;                            // of a task
inline constexpr std::int64_t kMaxForwards = std::int64_t{1} << 22; // stages × microbatches

} // namespace vime
