// Upper bounds of what kernels lay out in a workspace: the native ones (kernels/Cpu) over all
// builds, and ATen's.
#include "kernels/Workspace.h"

#include <algorithm>

namespace vime {
namespace {

constexpr std::int64_t kWidestVector = 64;   // bytes
constexpr std::int64_t kTileRows = 14;       // most rows of the register tile
constexpr std::int64_t kWidenedRows = 112;   // WidenedProduct.h
constexpr std::int64_t kDepthChunk = 128;    // Gemm.h
constexpr std::int64_t kDepthSlab = 256;     // Gemm.h
constexpr std::int64_t kPackedColumns = 384; // Gemm.h
constexpr std::int64_t kQueryBlock = 32;     // AttentionBackward.cpp
constexpr std::int64_t kBackwardKeys = 256;  // AttentionBackward.cpp
constexpr std::int64_t kCachedKeys = 16;     // AttentionWithCache.cpp: keys of a block
constexpr std::int64_t kCachedHeads = 4;     // and heads at a time
constexpr std::int64_t kAlignment = 64;      // each area starts at a multiple of it
constexpr std::int64_t kMostAreas = 12;      // of attention's backward

std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t bytesFor(std::int64_t elements, std::int64_t areas, DataType type) {
  return std::size_t(elements) * sizeOf(sumTypeOf(type)) + std::size_t(areas * kAlignment);
}

/// Elements of the widest vector of what is computed in.
std::int64_t lanesOf(DataType type) {
  return kWidestVector / std::int64_t(sizeOf(sumTypeOf(type)));
}

/// Columns of a panel: of one vector where that is enough, else of two. Narrower vectors need no
/// more.
std::int64_t panelFor(std::int64_t columns, DataType type) {
  return lanesOf(type) * (columns <= lanesOf(type) ? 1 : 2);
}

/// Columns filled up to whole panels.
std::int64_t inPanels(std::int64_t columns, DataType type) {
  return roundUp(columns, panelFor(columns, type));
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
  const std::int64_t inAll = inPanels(columns, type);
  if (type != sumTypeOf(type))
    return bytesFor(inAll * depth + kWidenedRows * (depth + panelFor(columns, type)), 3, type);
  const std::int64_t atOnce = std::min(inAll, kPackedColumns) * std::min(depth, kDepthSlab);
  return bytesFor(atOnce + kTileRows * kDepthChunk, 2, type);
}

std::size_t linearWorkspace(DataType type, const Linear &linear, KernelLibrary library) {
  return std::max({productWorkspace(type, linear.outputs, linear.inputs, library),
                   productWorkspace(type, linear.inputs, linear.outputs, library),
                   productWorkspace(type, linear.inputs, linear.tokens, library)});
}

std::size_t attentionForwardWorkspace(DataType type, const Attention &attention,
                                      std::int64_t longestSegment, KernelLibrary library) {
  if (library == KernelLibrary::LibTorch)
    return torchAttention(type, attention, longestSegment);
  const std::int64_t width = attention.headWidth, queries = 2 * lanesOf(type);
  return bytesFor(2 * longestSegment * width     // copies of keys and values
                      + longestSegment * queries // scores of one panel of queries
                      + 2 * queries * width,     // the panel, its outputs
                  5, type);
}

std::size_t attentionBackwardWorkspace(DataType type, const Attention &attention,
                                       std::int64_t longestSegment, KernelLibrary library) {
  if (library == KernelLibrary::LibTorch)
    return torchAttention(type, attention, longestSegment);
  const std::int64_t width = attention.headWidth, padded = inPanels(width, type);
  const std::int64_t keys = std::min(longestSegment, kBackwardKeys);
  return bytesFor(2 * longestSegment * width        // copies of keys and values
                      + 2 * longestSegment * padded // their gradients
                      + 2 * kQueryBlock * padded    // a block of queries: q, dOut by rows,
                      + 4 * kQueryBlock * width     // q, out, dOut, dq by columns,
                      + 2 * keys * kQueryBlock,     // weights and their gradients
                  kMostAreas, type);
}

std::size_t attentionWorkspace(DataType type, const Attention &attention,
                               std::int64_t longestSegment, KernelLibrary library) {
  return std::max(attentionForwardWorkspace(type, attention, longestSegment, library),
                  attentionBackwardWorkspace(type, attention, longestSegment, library));
}

std::size_t attentionWithCacheWorkspace(DataType type, const Attention &attention,
                                        std::int64_t rows, KernelLibrary library) {
  if (library == KernelLibrary::LibTorch) // log-sums in front of what attention asks for
    return roundUp(rows * attention.heads * std::int64_t(sizeOf(type)), kAlignment) +
           torchAttention(type, attention, rows);
  const std::size_t ofOne = bytesFor(kCachedHeads * roundUp(rows, kCachedKeys) // scores
                                         + kCachedHeads * attention.headWidth, // queries
                                     2, type);
  return std::max(ofOne, attentionForwardWorkspace(type, attention, rows, library));
}

std::size_t keyValueCacheBytes(DataType type, const Attention &attention, std::int64_t rows) {
  return std::size_t(roundUp(rows, kCachedKeys) * 2 * attention.keyValueWidth()) * sizeOf(type);
}

std::size_t unusedWorkspace(DataType type) {
  return bytesFor(kTileRows * kDepthChunk, kMostAreas, type);
}

} // namespace vime
