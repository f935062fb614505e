// RMSNorm. The forward needs no temporary of rows; the backward goes over each block of rows twice,
// once for the sums and once for the gradient.
#include <ATen/ops/add.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/zeros_like.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"

namespace vime {
namespace {

/// Of rows, or of a part of their columns.
class NormView {
public:
  NormView(DataType type, const RmsNorm &norm) : type(type), norm(norm) {}

  at::Tensor rows(ConstMatrix matrix, const Block &block) const {
    return view(type, block.rows, block.columns,
                ConstMatrix(elementAt(matrix.data, block.row * matrix.stride + block.column, type),
                            matrix.stride));
  }
  at::Tensor weight(const void *vector, const Block &block) const {
    return view(type, block.columns, elementAt(vector, block.column, type));
  }
  /// One number a row: [rows] and, to multiply rows by, [rows, 1].
  at::Tensor perRow(const void *vector, std::int64_t row, std::int64_t rows) const {
    return view(type, rows, elementAt(vector, row, type));
  }
  at::Tensor column(const void *vector, std::int64_t row, std::int64_t rows) const {
    return view(type, {rows, 1}, {1, 1}, elementAt(vector, row, type));
  }
  Block all() const { return {0, norm.tokens, 0, norm.width}; }

private:
  const DataType type;
  const RmsNorm &norm;
};

} // namespace

void LibTorchKernels::rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                     Matrix y, void *reciprocal) const {
  if (norm.tokens == 0)
    return;
  inCall([&] {
    const NormView views(elementType, norm);
    const at::Tensor rows = views.rows(x, views.all());
    at::Tensor r = views.perRow(reciprocal, 0, norm.tokens);
    at::linalg_vector_norm_out(r, rows, 2, at::IntArrayRef{1});
    r.mul_(r).div_(norm.width).add_(norm.epsilon).rsqrt_();
  });
  rmsNormApply(norm, x, weight, reciprocal, y);
}

void LibTorchKernels::rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                   const void *reciprocal, Matrix y) const {
  if (norm.tokens == 0)
    return;
  inCall([&] {
    const NormView views(elementType, norm);
    at::Tensor result = views.rows(y, views.all());
    at::mul_out(result, views.rows(x, views.all()), views.column(reciprocal, 0, norm.tokens));
    result.mul_(views.weight(weight, views.all()));
  });
}

/// With g = dy · weight and r the reciprocals:
///   dx = residual + r g - x r³ mean(g x),  dWeight = sum of dy x r
void LibTorchKernels::rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                      const void *reciprocal, ConstMatrix dy, ConstMatrix residual,
                                      Matrix dx, void *dWeight) const {
  const std::size_t element = sizeOf(elementType);
  const NormView views(elementType, norm);
  inCall([&] { view(elementType, norm.width, dWeight).zero_(); });
  forRows(norm.tokens, norm.width, element, [&](std::int64_t row, std::int64_t count) {
    inCall([&] {
      const at::Tensor r = views.perRow(reciprocal, row, count);
      at::Tensor sums = at::zeros_like(r);
      forColumns(norm.width, element, [&](std::int64_t column, std::int64_t width) {
        const Block block{row, count, column, width};
        const at::Tensor t = at::mul(views.rows(dy, block), views.rows(x, block));
        views.weight(dWeight, block).addmv_(t.t(), r);
        sums.addmv_(t, views.weight(weight, block));
      });
      // -r³ / width of each row, times its sum.
      sums.mul_(r).mul_(r).mul_(r).div_(-double(norm.width));
      const at::Tensor factors = sums.unsqueeze(1);
      forColumns(norm.width, element, [&](std::int64_t column, std::int64_t width) {
        const Block block{row, count, column, width};
        at::Tensor t = at::mul(views.rows(dy, block), views.weight(weight, block));
        t.mul_(views.column(reciprocal, row, count)).addcmul_(views.rows(x, block), factors);
        at::Tensor result = views.rows(dx, block);
        if (residual.data)
          at::add_out(result, views.rows(residual, block), t);
        else
          result.copy_(t);
      });
    });
  });
}

} // namespace vime
