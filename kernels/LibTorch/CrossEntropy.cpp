// Cross-entropy in place. Whole rows are LibTorch's, the one element of a row that has its label is
// ours.
#include <cmath>

#include <ATen/ops/amax.h>
#include <ATen/ops/sum.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"

namespace vime {
namespace {

/// Rows of one block; their greatest elements and sums of exponentials are small beside them.
constexpr std::int64_t kRows = 1024;

/// Returns the sum of the losses.
template <typename T>
double ofRows(const at::Tensor &logits, const std::int32_t *labels, double scale) {
  const std::int64_t rows = logits.size(0), stride = logits.stride(0);
  T *const first = logits.mutable_data_ptr<T>();
  logits.sub_(logits.amax(at::IntArrayRef{1}, /*keepdim=*/true));
  double loss = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    if (labels[row] >= 0)
      loss -= double(first[row * stride + labels[row]]);
  logits.exp_();
  const at::Tensor sums = logits.sum(at::IntArrayRef{1}, /*keepdim=*/true);
  logits.div_(sums);
  const T *const sumOf = sums.const_data_ptr<T>();
  for (std::int64_t row = 0; row < rows; ++row)
    if (labels[row] >= 0) {
      loss += std::log(double(sumOf[row]));
      first[row * stride + labels[row]] -= T(1);
    } else {
      logits.select(0, row).zero_();
    }
  if (scale != 1)
    logits.mul_(scale);
  return loss;
}

} // namespace

double LibTorchKernels::crossEntropy(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                                     const std::int32_t *labels, double scale) const {
  double loss = 0;
  for (std::int64_t row = 0; row < tokens; row += kRows)
    loss += inCall([&] {
      const Matrix from{elementAt(logits.data, row * logits.stride, elementType), logits.stride};
      const at::Tensor block =
          view(elementType, std::min(kRows, tokens - row), vocabulary, ConstMatrix(from));
      return elementType == DataType::Float64 ? ofRows<double>(block, labels + row, scale)
                                              : ofRows<float>(block, labels + row, scale);
    });
  return loss;
}

} // namespace vime
