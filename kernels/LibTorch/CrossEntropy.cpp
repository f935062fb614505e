// Cross-entropy in place. Whole rows are LibTorch's, the one element of a row that has its label is
// ours.
#include <cmath>

#include <ATen/ops/amax.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

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

/// Of a matrix, or of a vector as its rows.
double elementOf(const at::Tensor &values, std::int64_t row, std::int64_t column) {
  const std::int64_t index = row * values.stride(0) + column;
  return values.scalar_type() == at::kDouble ? values.const_data_ptr<double>()[index]
                                             : double(values.const_data_ptr<float>()[index]);
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

void LibTorchKernels::logProbabilities(std::int64_t tokens, std::int64_t vocabulary,
                                       ConstMatrix logits, const std::int32_t *labels,
                                       double *logProbabilities) const {
  forRows(tokens, vocabulary, sizeOf(elementType), [&](std::int64_t row, std::int64_t rows) {
    inCall([&] {
      const auto columns = [&](std::int64_t column, std::int64_t width) {
        return view(elementType, rows, width,
                    ConstMatrix(elementAt(logits.data, row * logits.stride + column, elementType),
                                logits.stride));
      };
      const at::Tensor top = columns(0, vocabulary).amax(at::IntArrayRef{1}, /*keepdim=*/true);
      at::Tensor sums = at::zeros_like(top);
      forColumns(vocabulary, sizeOf(elementType), [&](std::int64_t column, std::int64_t width) {
        at::Tensor weights = at::sub(columns(column, width), top);
        sums.add_(weights.exp_().sum(at::IntArrayRef{1}, /*keepdim=*/true));
      });
      top.add_(sums.log_());
      for (std::int64_t token = 0; token < rows; ++token)
        logProbabilities[row + token] =
            elementOf(columns(0, vocabulary), token, labels[row + token]) -
            elementOf(top, token, 0);
    });
  });
}

void LibTorchKernels::softmaxWeights(std::int64_t tokens, std::int64_t vocabulary,
                                     ConstMatrix logits, double scale, Matrix weights) const {
  for (std::int64_t row = 0; row < tokens; row += kRows)
    inCall([&] {
      const std::int64_t rows = std::min(kRows, tokens - row);
      const ConstMatrix from(elementAt(logits.data, row * logits.stride, elementType),
                             logits.stride);
      const Matrix to{elementAt(weights.data, row * weights.stride, elementType), weights.stride};
      const at::Tensor block = view(elementType, rows, vocabulary, from);
      at::Tensor result = view(elementType, rows, vocabulary, ConstMatrix(to));
      at::sub_out(result, block, block.amax(at::IntArrayRef{1}, /*keepdim=*/true));
      result.mul_(scale).exp_();
    });
}

} // namespace vime
