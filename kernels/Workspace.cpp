// Upper bounds of what the native kernels (kernels/Cpu) lay out in a workspace, over all builds.
#include "kernels/Workspace.h"

#include <algorithm>

namespace vime {
namespace {

constexpr std::int64_t kWidestPanel = 32;   // columns of a packed panel: two vectors of 16
constexpr std::int64_t kTileRows = 14;      // most rows of the register tile
constexpr std::int64_t kDepthChunk = 128;   // Gemm.h
constexpr std::int64_t kQueryBlock = 32;    // AttentionBackward.cpp; no panel is wider
constexpr std::int64_t kBackwardKeys = 256; // AttentionBackward.cpp
constexpr std::int64_t kAlignment = 64;     // each area starts at a multiple of it
constexpr std::int64_t kAreas = 12;         // of attention's backward; no kernel has more

std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t bytesFor(std::int64_t elements, DataType type) {
  return std::size_t(elements) * sizeOf(type) + kAreas * kAlignment;
}

} // namespace

std::size_t productWorkspace(DataType type, std::int64_t columns, std::int64_t depth) {
  return bytesFor(roundUp(columns, kWidestPanel) * depth + kTileRows * kDepthChunk, type);
}

std::size_t linearWorkspace(DataType type, const Linear &linear) {
  return std::max({productWorkspace(type, linear.outputs, linear.inputs),
                   productWorkspace(type, linear.inputs, linear.outputs),
                   productWorkspace(type, linear.inputs, linear.tokens)});
}

std::size_t attentionWorkspace(DataType type, const Attention &attention,
                               std::int64_t longestSegment) {
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
