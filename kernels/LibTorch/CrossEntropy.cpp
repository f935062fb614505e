// Cross-entropy in place. Whole rows are LibTorch's, the one element of a row that has its label is
// ours.
#include <cmath>

#include <ATen/ops/amax.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mul.h>
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

/// Rows of logits, in blocks whose temporaries fit into the scratch.
struct Rows {
  DataType type;
  std::int64_t vocabulary;
  ConstMatrix logits;

  /// All columns of some rows, and a part of them.
  at::Tensor rows(std::int64_t row, std::int64_t count) const {
    return part(row, count, 0, vocabulary);
  }
  at::Tensor part(std::int64_t row, std::int64_t count, std::int64_t column,
                  std::int64_t width) const {
    return view(
        type, count, width,
        ConstMatrix(elementAt(logits.data, row * logits.stride + column, type), logits.stride));
  }
  /// log of the sum of e^logit.
  at::Tensor logSums(std::int64_t row, std::int64_t count) const {
    at::Tensor top = rows(row, count).amax(at::IntArrayRef{1}, /*keepdim=*/true);
    at::Tensor sums = at::zeros_like(top);
    forColumns(vocabulary, sizeOf(type), [&](std::int64_t column, std::int64_t width) {
      at::Tensor weights = at::sub(part(row, count, column, width), top);
      sums.add_(weights.exp_().sum(at::IntArrayRef{1}, /*keepdim=*/true));
    });
    return top.add_(sums.log_());
  }
  /// H, of logits less their logSums.
  at::Tensor entropies(std::int64_t row, std::int64_t count, const at::Tensor &logSums) const {
    at::Tensor sums = at::zeros_like(logSums);
    forColumns(vocabulary, sizeOf(type), [&](std::int64_t column, std::int64_t width) {
      at::Tensor logs = at::sub(part(row, count, column, width), logSums);
      sums.sub_(at::exp(logs).mul_(logs).sum(at::IntArrayRef{1}, /*keepdim=*/true));
    });
    return sums;
  }
};

/// Of a matrix, or of a vector as its rows.
double elementOf(const at::Tensor &values, std::int64_t row, std::int64_t column) {
  const std::int64_t index = row * values.stride(0) + column;
  return values.scalar_type() == at::kDouble ? values.const_data_ptr<double>()[index]
                                             : double(values.const_data_ptr<float>()[index]);
}
void addTo(const at::Tensor &matrix, std::int64_t row, std::int64_t column, double value) {
  const std::int64_t index = row * matrix.stride(0) + column;
  if (matrix.scalar_type() == at::kDouble)
    matrix.mutable_data_ptr<double>()[index] += value;
  else
    matrix.mutable_data_ptr<float>()[index] += float(value);
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
  const Rows all{elementType, vocabulary, logits};
  forRows(tokens, vocabulary, sizeOf(elementType), [&](std::int64_t row, std::int64_t rows) {
    inCall([&] {
      const at::Tensor logSums = all.logSums(row, rows);
      for (std::int64_t token = 0; token < rows; ++token)
        logProbabilities[row + token] = elementOf(all.rows(row, rows), token, labels[row + token]) -
                                        elementOf(logSums, token, 0);
    });
  });
}

void LibTorchKernels::entropies(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                                double *entropies) const {
  const Rows all{elementType, vocabulary, logits};
  forRows(tokens, vocabulary, sizeOf(elementType), [&](std::int64_t row, std::int64_t rows) {
    inCall([&] {
      const at::Tensor found = all.entropies(row, rows, all.logSums(row, rows));
      for (std::int64_t token = 0; token < rows; ++token)
        entropies[row + token] = elementOf(found, token, 0);
    });
  });
}

void LibTorchKernels::logProbabilitiesBackward(std::int64_t tokens, std::int64_t vocabulary,
                                               Matrix logits, const std::int32_t *labels,
                                               const double *byLogProbability,
                                               const double *byEntropy) const {
  const Rows all{elementType, vocabulary, logits};
  forRows(tokens, vocabulary, sizeOf(elementType), [&](std::int64_t row, std::int64_t rows) {
    inCall([&] {
      const auto slopes = [&](const double *of) {
        return view(DataType::Float64, {rows, 1}, {1, 1}, of + row).to(scalarTypeOf(elementType));
      };
      const at::Tensor ofLabel = slopes(byLogProbability);
      const at::Tensor block = all.rows(row, rows);
      block.sub_(all.logSums(row, rows));
      if (byEntropy) {
        const at::Tensor ofEntropy = slopes(byEntropy),
                         entropies = all.entropies(row, rows, at::zeros_like(ofEntropy));
        const at::Tensor first = at::mul(ofEntropy, entropies).add_(ofLabel);
        forColumns(vocabulary, sizeOf(elementType), [&](std::int64_t column, std::int64_t width) {
          const at::Tensor logs = all.part(row, rows, column, width), weights = at::exp(logs);
          logs.mul_(ofEntropy).add_(first).mul_(weights).neg_();
        });
      } else {
        block.exp_().mul_(ofLabel).neg_();
      }
      for (std::int64_t token = 0; token < rows; ++token)
        if (labels[row + token] < 0)
          block.select(0, token).zero_();
        else
          addTo(block, token, labels[row + token], byLogProbability[row + token]);
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
