// Upper bounds of what kernels lay out in a workspace: the native ones (kernels/Cpu) over all
// builds, and ATen's.
#include "kernels/Workspace.h"

#include <algorithm>

namespace vime {
namespace {

constexpr std::int64_t kWidestPanel = 32;   // columns of a packed panel: two vectors of 16
constexpr std::int64_t kTileRows = 14;      // most rows of the register tile
constexpr std::int64_t kWidenedRows = 112;  // WidenedProduct.h
constexpr std::int64_t kDepthChunk = 128;   // Gemm.h
constexpr std::int64_t kQueryBlock = 32;    // AttentionBackward.cpp; no panel is wider
constexpr std::int64_t kBackwardKeys = 256; // AttentionBackward.cpp
constexpr std::int64_t kAlignment = 64;     // each area starts at a multiple of it
constexpr std::int64_t kAreas = 12;         // of attention's backward; no kernel has more

std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t bytesFor(std::int64_t elements, DataType type) {
  return std::size_t(elements) * sizeOf(sumTypeOf(type)) + kAreas * kAlignment;
}

// ---- LibTorch: whatever ATen allocates while it runs, in blocks of its own ----

constexpr std::int64_t kTorchBlocks = 16;      // most that live together
constexpr std::int64_t kTorchQueryBlock = 256; // FlashAttentionKernel.cpp: most queries and
constexpr std::int64_t kTorchKeyBlock = 512;   // most keys that it takes at a time

std::size_t torchBytes(std::int64_t elements, DataType type) {
  return std::size_t(elements) * sizeOf(type) + (kTorchBlocks + 1) * kAlignment;
}

/// Of the query heads that take one turn: one of each key-value head.
std::size_t torchAttention(DataType type, const Attention &attention, std::int64_t longest) {
  const std::int64_t rows = longest * attention.keyValueHeads;
  const std::int64_t queries = std::min(longest, kTorchQueryBlock);
  const std::int64_t keys = std::min(longest, kTorchKeyBlock);
  const std::int64_t scores = queries * (keys + attention.headWidth + 2);
  const std::int64_t sharers = attention.heads / attention.keyValueHeads;
  // Backward: three gradients, contiguous copies of two of its operands, and sums of keys and
  // values.
  const std::int64_t gradients = rows * attention.headWidth * (sharers > 1 ? 7 : 5);
  return torchBytes(gradients + 2 * rows + 2 * scores, type);
}

} // namespace

std::size_t productWorkspace(DataType type, std::int64_t columns, std::int64_t depth,
                             KernelLibrary library) {
  if (library == KernelLibrary::LibTorch)
    return torchBytes(2 * kLibTorchTile * kLibTorchTile, type);
  const std::int64_t rows =
      type == sumTypeOf(type) ? kTileRows * kDepthChunk : kWidenedRows * (depth + kWidestPanel);
  return bytesFor(roundUp(columns, kWidestPanel) * depth + rows, type);
}

std::size_t linearWorkspace(DataType type, const Linear &linear, KernelLibrary library) {
  return std::max({productWorkspace(type, linear.outputs, linear.inputs, library),
                   productWorkspace(type, linear.inputs, linear.outputs, library),
                   productWorkspace(type, linear.inputs, linear.tokens, library)});
}

std::size_t attentionWorkspace(DataType type, const Attention &attention,
                               std::int64_t longestSegment, KernelLibrary library) {
  if (library == KernelLibrary::LibTorch)
    return torchAttention(type, attention, longestSegment);
  const std::int64_t width = attention.headWidth, padded = roundUp(width, kWidestPanel);
  const std::int64_t copies = 2 * longestSegment * width;         // of keys and values
  const std::int64_t forward = longestSegment * kQueryBlock       // scores of one block of queries
                               + 2 * kQueryBlock * width;         // the block, its outputs
  const std::int64_t backward = 2 * longestSegment * padded       // gradients of keys and values
                                + 2 * kBackwardKeys * kQueryBlock // weights and their gradients
                                + 2 * kQueryBlock * padded        // the block: q, dOut by rows,
                                + 4 * kQueryBlock * width;        // q, out, dOut, dq by columns
  return bytesFor(copies + std::max(forward, backward), type);
}

} // namespace vime
