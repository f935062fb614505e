// Reference: products and what works on one row at a time.
#include "kernels/Reference/ReferenceKernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vime {

template <typename T> void ReferenceKernels<T>::product(const Product &product, void *) const {
  const auto *a = static_cast<const T *>(product.a.data);
  const auto *b = static_cast<const T *>(product.b.data);
  const View<const T> residual(product.residual);
  const View<T> result(product.result);
  for (std::int64_t row = 0; row < product.rows; ++row)
    for (std::int64_t column = 0; column < product.columns; ++column) {
      double sum = residual.data ? double(residual.at(row, column)) : 0.;
      for (std::int64_t k = 0; k < product.depth; ++k)
        sum += double(a[row * product.a.rowStride + k * product.a.columnStride]) *
               double(b[k * product.b.rowStride + column * product.b.columnStride]);
      result.at(row, column) = T(sum);
    }
}

template <typename T>
void ReferenceKernels<T>::rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                         Matrix y, void *reciprocal) const {
  const View<const T> xs(x);
  auto *reciprocals = static_cast<T *>(reciprocal);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    double squares = 0;
    for (std::int64_t column = 0; column < norm.width; ++column)
      squares += double(xs.at(token, column)) * double(xs.at(token, column));
    reciprocals[token] = T(1 / std::sqrt(squares / double(norm.width) + norm.epsilon));
  }
  rmsNormApply(norm, x, weight, reciprocal, y);
}

template <typename T>
void ReferenceKernels<T>::rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                       const void *reciprocal, Matrix y) const {
  const View<const T> xs(x);
  const View<T> ys(y);
  for (std::int64_t token = 0; token < norm.tokens; ++token)
    for (std::int64_t column = 0; column < norm.width; ++column)
      ys.at(token, column) =
          T(double(xs.at(token, column)) * double(static_cast<const T *>(reciprocal)[token]) *
            double(static_cast<const T *>(weight)[column]));
}

template <typename T>
void ReferenceKernels<T>::rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                          const void *reciprocal, ConstMatrix dy,
                                          ConstMatrix residual, Matrix dx, void *dWeight) const {
  const View<const T> xs(x), dys(dy), residuals(residual);
  const View<T> dxs(dx);
  const auto *w = static_cast<const T *>(weight);
  std::vector<double> weightGradient(std::size_t(norm.width), 0.);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    const double r = static_cast<const T *>(reciprocal)[token];
    double mean = 0;
    for (std::int64_t column = 0; column < norm.width; ++column)
      mean += double(dys.at(token, column)) * w[column] * xs.at(token, column) / double(norm.width);
    for (std::int64_t column = 0; column < norm.width; ++column) {
      const double gradient = dys.at(token, column), value = xs.at(token, column);
      const double own = r * (gradient * w[column] - value * r * r * mean);
      weightGradient[std::size_t(column)] += gradient * value * r;
      dxs.at(token, column) = T((residuals.data ? residuals.at(token, column) : 0.) + own);
    }
  }
  for (std::int64_t column = 0; column < norm.width; ++column)
    static_cast<T *>(dWeight)[column] = T(weightGradient[std::size_t(column)]);
}

template <typename T>
void ReferenceKernels<T>::columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x,
                                     bool accumulate, void *sums) const {
  const View<const T> xs(x);
  for (std::int64_t column = 0; column < width; ++column) {
    T &out = static_cast<T *>(sums)[column];
    double sum = accumulate ? double(out) : 0.;
    for (std::int64_t token = 0; token < tokens; ++token)
      sum += double(xs.at(token, column));
    out = T(sum);
  }
}

template <typename T>
void ReferenceKernels<T>::swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                                        Matrix s) const {
  const View<const T> in(gateUp);
  const View<T> out(s);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < ffn; ++column) {
      const double gate = in.at(token, column), up = in.at(token, ffn + column);
      out.at(token, column) = T(gate / (1 + std::exp(-gate)) * up);
    }
}

template <typename T>
void ReferenceKernels<T>::swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp,
                                         ConstMatrix ds, Matrix s) const {
  const View<T> values(gateUp), out(s);
  const View<const T> gradients(ds);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < ffn; ++column) {
      const double gate = values.at(token, column), up = values.at(token, ffn + column);
      const double gradient = gradients.at(token, column), sigmoid = 1 / (1 + std::exp(-gate));
      out.at(token, column) = T(gate * sigmoid * up);
      values.at(token, column) = T(gradient * up * sigmoid * (1 + gate * (1 - sigmoid)));
      values.at(token, ffn + column) = T(gradient * gate * sigmoid);
    }
}

template <typename T>
double ReferenceKernels<T>::crossEntropy(std::int64_t tokens, std::int64_t vocabulary,
                                         Matrix logits, const std::int32_t *labels,
                                         double scale) const {
  const View<T> xs(logits);
  double loss = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    T *row = &xs.at(token, 0);
    if (labels[token] < 0) {
      std::fill(row, row + vocabulary, T(0));
      continue;
    }
    const double largest = *std::max_element(row, row + vocabulary);
    double sum = 0;
    for (std::int64_t word = 0; word < vocabulary; ++word)
      sum += std::exp(row[word] - largest);
    loss += std::log(sum) - (row[labels[token]] - largest);
    for (std::int64_t word = 0; word < vocabulary; ++word)
      row[word] = T(scale * (std::exp(row[word] - largest) / sum - (word == labels[token])));
  }
  return loss;
}

template <typename T>
void ReferenceKernels<T>::embeddingForward(std::int64_t tokens, std::int64_t width,
                                           const void *table, const std::int32_t *ids,
                                           Matrix out) const {
  const View<T> rows(out);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < width; ++column)
      rows.at(token, column) = static_cast<const T *>(table)[ids[token] * width + column];
}

template <typename T>
void ReferenceKernels<T>::embeddingBackward(std::int64_t tokens, std::int64_t width,
                                            const std::int32_t *ids, ConstMatrix dOut,
                                            void *dTable) const {
  const View<const T> gradients(dOut);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < width; ++column)
      static_cast<T *>(dTable)[ids[token] * width + column] += gradients.at(token, column);
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;

} // namespace vime
