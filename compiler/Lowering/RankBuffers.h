// The buffers of a rank, and which of them each of its actions uses.
//
// Local hand-over: where the next stage is on the same rank, a forward writes that stage's input
// and a backward the previous stage's output gradient; no action, no copy.
#pragma once

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Buffers and their slots start at multiples of the alignment.
constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + plan::kBufferAlignment - 1) / plan::kBufferAlignment * plan::kBufferAlignment;
}

/// A ring whose slots single microbatches use; all other buffers are used whole.
constexpr bool isMicrobatchRing(plan::BufferKind kind) {
  using enum plan::BufferKind;
  return kind == Input || kind == Output || kind == OutputGradient || kind == InputGradient ||
         kind == Stash || kind == WeightStash || kind == Context || kind == ContextGradients;
}

/// Buffers without place, rings with one slot.
struct RankLayoutDraft {
  plan::Layout layout;
  /// Of each buffer the first one that is to lie on the same bytes: where stages are whole one
  /// after the other. Mostly itself.
  std::vector<std::uint32_t> sameBytes;
};

/// Fills the operands of a program, of which `rank` is the first rank.
RankLayoutDraft makeRankBuffers(plan::Plan &plan, std::uint32_t program, std::uint32_t rank,
                                const MicrobatchCaps &caps, std::uint32_t microbatches);

} // namespace vime
