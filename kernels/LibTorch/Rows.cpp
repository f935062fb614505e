// SwiGLU, sums of columns, and the embedding.
#include <ATen/ops/addmv.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/sum.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"

namespace vime {
namespace {

at::Tensor part(DataType type, ConstMatrix matrix, const Block &block, std::int64_t shift = 0) {
  return view(
      type, block.rows, block.columns,
      ConstMatrix(elementAt(matrix.data, block.row * matrix.stride + block.column + shift, type),
                  matrix.stride));
}

/// As many rows of a table as ids name: LibTorch checks indices and overlap by its size.
std::int64_t rowsNamed(std::int64_t tokens, const std::int32_t *ids) {
  return std::int64_t(*std::max_element(ids, ids + tokens)) + 1;
}

} // namespace

void LibTorchKernels::columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x,
                                 bool accumulate, void *sums) const {
  inCall([&] {
    if (!accumulate)
      view(elementType, width, sums).zero_();
  });
  forBlocks(tokens, width, sizeOf(elementType), [&](const Block &block) {
    inCall([&] {
      view(elementType, block.columns, elementAt(sums, block.column, elementType))
          .add_(part(elementType, x, block).sum(at::IntArrayRef{0}));
    });
  });
}

void LibTorchKernels::swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                                    Matrix s) const {
  if (tokens == 0)
    return;
  inCall([&] {
    const Block all{0, tokens, 0, ffn};
    at::Tensor result = part(elementType, s, all);
    at::silu_out(result, part(elementType, gateUp, all));
    result.mul_(part(elementType, gateUp, all, ffn));
  });
}

void LibTorchKernels::swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp,
                                     ConstMatrix ds, Matrix s) const {
  forBlocks(tokens, ffn, sizeOf(elementType), [&](const Block &block) {
    inCall([&] {
      at::Tensor gate = part(elementType, gateUp, block);
      at::Tensor up = part(elementType, gateUp, block, ffn);
      const at::Tensor gradient = part(elementType, ds, block);
      at::Tensor ofSilu = at::mul(gradient, up);
      at::Tensor silu = at::silu(gate);
      at::silu_backward_out(gate, ofSilu, gate);
      at::mul_out(ofSilu, silu, up); // now what the forward had computed
      at::mul_out(up, gradient, silu);
      at::Tensor result = part(elementType, s, block);
      result.copy_(ofSilu); // last: s may be ds
    });
  });
}

void LibTorchKernels::embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                                       const std::int32_t *ids, Matrix out) const {
  if (tokens == 0)
    return;
  inCall([&] {
    at::Tensor result = view(elementType, tokens, width, out);
    at::index_select_out(
        result, view(elementType, rowsNamed(tokens, ids), width, ConstMatrix(table, width)), 0,
        view(DataType::Int32, tokens, ids));
  });
}

void LibTorchKernels::embeddingBackward(std::int64_t tokens, std::int64_t width,
                                        const std::int32_t *ids, ConstMatrix dOut,
                                        void *dTable) const {
  if (tokens == 0)
    return;
  inCall([&] {
    view(elementType, rowsNamed(tokens, ids), width, ConstMatrix(dTable, width))
        .index_add_(0, view(DataType::Int32, tokens, ids), view(elementType, tokens, width, dOut));
  });
}

} // namespace vime
