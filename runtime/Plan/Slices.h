// Slices: microbatches in a row that are slices of the same sequences.
//
//   isFirstSlice(plan.data, 8)     // of 4 slices: it attends to nothing before it
//   slotOf(plan.data, buffer, 6)   // 6 % count; of what slices share, 1 % count
#pragma once

#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// What slices of the same sequences share.
constexpr bool isShared(BufferKind kind) {
  return kind == BufferKind::Context || kind == BufferKind::ContextGradients;
}

/// Microbatches in a row that use one slot.
constexpr std::uint32_t microbatchesPerSlot(const DataSettings &data, BufferKind kind) {
  return isShared(kind) ? data.slices : 1;
}

constexpr std::uint32_t slotOf(const DataSettings &data, const Buffer &buffer,
                               std::uint32_t microbatch) {
  return microbatch / microbatchesPerSlot(data, buffer.kind) % buffer.count;
}

constexpr bool isFirstSlice(const DataSettings &data, std::uint32_t microbatch) {
  return microbatch % data.slices == 0;
}
constexpr bool isLastSlice(const DataSettings &data, std::uint32_t microbatch) {
  return microbatch % data.slices == data.slices - 1;
}

/// Position in its sequences of the first token of a microbatch.
constexpr std::uint32_t firstPosition(const DataSettings &data, std::uint32_t microbatch) {
  return microbatch % data.slices * (data.sequence / data.slices);
}

} // namespace vime::plan
