// Rotary positions: a segment at a time, each with the table from its start.
#include <ATen/ops/mul.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"
#include "kernels/Reference/ReferenceKernels.h"

namespace vime {
namespace {

struct Rotation {
  DataType type;
  std::int32_t headWidth;
  const void *table;
  bool inverse;
  std::int32_t half() const { return headWidth / 2; }

  /// Tokens [row, row + rows) of x, which stand at `position` and behind, and some of their heads.
  void turn(Matrix x, std::int64_t position, const Block &block) const {
    const auto rows = [&](std::int64_t shift) {
      return view(type, {block.rows, block.columns, half()}, {x.stride, headWidth, 1},
                  elementAt(x.data, block.row * x.stride + block.column * headWidth + shift, type));
    };
    const auto turns = [&](std::int64_t shift) {
      return view(type, {block.rows, 1, half()}, {headWidth, 0, 1},
                  elementAt(table, position * headWidth + shift, type));
    };
    at::Tensor first = rows(0), second = rows(half());
    const at::Tensor cosine = turns(0), sine = turns(half());
    const double sign = inverse ? -1 : 1;
    const at::Tensor crossed = at::mul(first, sine);
    first.mul_(cosine).addcmul_(second, sine, -sign);
    second.mul_(cosine).add_(crossed, sign);
  }
};

} // namespace

/// Made once for a run, in float64: nothing to gain by LibTorch.
void LibTorchKernels::ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                                void *table) const {
  referenceKernels(elementType)->ropeTable(positions, headWidth, theta, table);
}

void LibTorchKernels::rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth,
                           const void *table, bool inverse, Matrix x) const {
  const Rotation rotation{elementType, headWidth, table, inverse};
  const std::size_t ofHead = std::size_t(headWidth / 2) * sizeOf(elementType);
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t begin = segments.offsets[segment];
    forBlocks(segments.offsets[segment + 1] - begin, heads, ofHead, [&](Block block) {
      const std::int64_t position = segments.first + block.row;
      block.row += begin;
      inCall([&] { rotation.turn(x, position, block); });
    });
  }
}

} // namespace vime
