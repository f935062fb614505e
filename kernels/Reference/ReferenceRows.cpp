// Reference: products and what works on one row at a time.
#include "kernels/Reference/ReferenceKernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vime {

namespace {

/// Elements E into results R.
template <typename E, typename R> void multiply(const Product &product) {
  const auto *a = static_cast<const E *>(product.a.data);
  const auto *b = static_cast<const E *>(product.b.data);
  const View<const R> residual(product.residual);
  const View<R> result(product.result);
  for (std::int64_t row = 0; row < product.rows; ++row)
    for (std::int64_t column = 0; column < product.columns; ++column) {
      double sum = residual.data ? double(residual.at(row, column)) : 0.;
      for (std::int64_t k = 0; k < product.depth; ++k)
        sum += double(a[row * product.a.rowStride + k * product.a.columnStride]) *
               double(b[k * product.b.rowStride + column * product.b.columnStride]);
      result.at(row, column) = R(sum);
    }
}

/// The softmax of a row, by logarithms.
struct Distribution {
  template <typename E> Distribution(std::int64_t vocabulary, const E *row) {
    const double largest = *std::max_element(row, row + vocabulary);
    double sum = 0;
    for (std::int64_t word = 0; word < vocabulary; ++word)
      sum += std::exp(row[word] - largest);
    for (std::int64_t word = 0; word < vocabulary; ++word)
      logs.push_back(row[word] - largest - std::log(sum));
  }
  double logOf(std::int64_t word) const { return logs[std::size_t(word)]; }
  double entropy() const {
    double sum = 0;
    for (const double log : logs)
      sum -= std::exp(log) * log;
    return sum;
  }
  std::vector<double> logs;
};

} // namespace

template <typename E> void ReferenceKernels<E>::product(const Product &product, void *) const {
  product.intoSums ? multiply<E, Sum<E>>(product) : multiply<E, E>(product);
}

template <typename E>
void ReferenceKernels<E>::rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                         Matrix y, void *reciprocal) const {
  const View<const E> xs(x);
  auto *reciprocals = static_cast<Sum<E> *>(reciprocal);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    double squares = 0;
    for (std::int64_t column = 0; column < norm.width; ++column)
      squares += double(xs.at(token, column)) * double(xs.at(token, column));
    reciprocals[token] = Sum<E>(1 / std::sqrt(squares / double(norm.width) + norm.epsilon));
  }
  rmsNormApply(norm, x, weight, reciprocal, y);
}

template <typename E>
void ReferenceKernels<E>::rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                       const void *reciprocal, Matrix y) const {
  const View<const E> xs(x);
  const View<E> ys(y);
  for (std::int64_t token = 0; token < norm.tokens; ++token)
    for (std::int64_t column = 0; column < norm.width; ++column)
      ys.at(token, column) =
          E(double(xs.at(token, column)) * double(static_cast<const Sum<E> *>(reciprocal)[token]) *
            double(static_cast<const E *>(weight)[column]));
}

template <typename E>
void ReferenceKernels<E>::rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                                          const void *reciprocal, ConstMatrix dy,
                                          ConstMatrix residual, Matrix dx, void *dWeight) const {
  const View<const E> xs(x), dys(dy), residuals(residual);
  const View<E> dxs(dx);
  const auto *w = static_cast<const E *>(weight);
  std::vector<double> weightGradient(std::size_t(norm.width), 0.);
  for (std::int64_t token = 0; token < norm.tokens; ++token) {
    const double r = static_cast<const Sum<E> *>(reciprocal)[token];
    double mean = 0;
    for (std::int64_t column = 0; column < norm.width; ++column)
      mean += double(dys.at(token, column)) * w[column] * xs.at(token, column) / double(norm.width);
    for (std::int64_t column = 0; column < norm.width; ++column) {
      const double gradient = dys.at(token, column), value = xs.at(token, column);
      const double own = r * (gradient * w[column] - value * r * r * mean);
      weightGradient[std::size_t(column)] += gradient * value * r;
      dxs.at(token, column) = E((residuals.data ? residuals.at(token, column) : 0.) + own);
    }
  }
  for (std::int64_t column = 0; column < norm.width; ++column)
    static_cast<Sum<E> *>(dWeight)[column] = Sum<E>(weightGradient[std::size_t(column)]);
}

template <typename E>
void ReferenceKernels<E>::columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x,
                                     bool accumulate, void *sums) const {
  const View<const E> xs(x);
  for (std::int64_t column = 0; column < width; ++column) {
    Sum<E> &out = static_cast<Sum<E> *>(sums)[column];
    double sum = accumulate ? double(out) : 0.;
    for (std::int64_t token = 0; token < tokens; ++token)
      sum += double(xs.at(token, column));
    out = Sum<E>(sum);
  }
}

template <typename E>
void ReferenceKernels<E>::swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                                        Matrix s) const {
  const View<const E> in(gateUp);
  const View<E> out(s);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < ffn; ++column) {
      const double gate = in.at(token, column), up = in.at(token, ffn + column);
      out.at(token, column) = E(gate / (1 + std::exp(-gate)) * up);
    }
}

template <typename E>
void ReferenceKernels<E>::swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp,
                                         ConstMatrix ds, Matrix s) const {
  const View<E> values(gateUp), out(s);
  const View<const E> gradients(ds);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < ffn; ++column) {
      const double gate = values.at(token, column), up = values.at(token, ffn + column);
      const double gradient = gradients.at(token, column), sigmoid = 1 / (1 + std::exp(-gate));
      out.at(token, column) = E(gate * sigmoid * up);
      values.at(token, column) = E(gradient * up * sigmoid * (1 + gate * (1 - sigmoid)));
      values.at(token, ffn + column) = E(gradient * gate * sigmoid);
    }
}

template <typename E>
double ReferenceKernels<E>::crossEntropy(std::int64_t tokens, std::int64_t vocabulary,
                                         Matrix logits, const std::int32_t *labels,
                                         double scale) const {
  const View<E> xs(logits);
  double loss = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    E *row = &xs.at(token, 0);
    if (labels[token] < 0) {
      std::fill(row, row + vocabulary, E(0.));
      continue;
    }
    const double largest = *std::max_element(row, row + vocabulary);
    double sum = 0;
    for (std::int64_t word = 0; word < vocabulary; ++word)
      sum += std::exp(row[word] - largest);
    loss += std::log(sum) - (row[labels[token]] - largest);
    for (std::int64_t word = 0; word < vocabulary; ++word)
      row[word] = E(scale * (std::exp(row[word] - largest) / sum - (word == labels[token])));
  }
  return loss;
}

template <typename E>
void ReferenceKernels<E>::logProbabilities(std::int64_t tokens, std::int64_t vocabulary,
                                           ConstMatrix logits, const std::int32_t *labels,
                                           double *logProbabilities) const {
  const View<const E> xs(logits);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const E *row = &xs.at(token, 0);
    const double largest = *std::max_element(row, row + vocabulary);
    double sum = 0;
    for (std::int64_t word = 0; word < vocabulary; ++word)
      sum += std::exp(row[word] - largest);
    logProbabilities[token] = row[labels[token]] - largest - std::log(sum);
  }
}

template <typename E>
void ReferenceKernels<E>::entropies(std::int64_t tokens, std::int64_t vocabulary,
                                    ConstMatrix logits, double *entropies) const {
  const View<const E> xs(logits);
  for (std::int64_t token = 0; token < tokens; ++token)
    entropies[token] = Distribution(vocabulary, &xs.at(token, 0)).entropy();
}

template <typename E>
void ReferenceKernels<E>::logProbabilitiesBackward(std::int64_t tokens, std::int64_t vocabulary,
                                                   Matrix logits, const std::int32_t *labels,
                                                   const double *byLogProbability,
                                                   const double *byEntropy) const {
  const View<E> xs(logits);
  for (std::int64_t token = 0; token < tokens; ++token) {
    E *row = &xs.at(token, 0);
    if (labels[token] < 0) {
      std::fill(row, row + vocabulary, E(0.));
      continue;
    }
    const Distribution of(vocabulary, row);
    const double entropy = byEntropy ? of.entropy() : 0;
    for (std::int64_t word = 0; word < vocabulary; ++word) {
      const double logP = of.logOf(word), p = std::exp(logP);
      double slope = byLogProbability[token] * ((word == labels[token]) - p);
      if (byEntropy)
        slope -= byEntropy[token] * p * (logP + entropy);
      row[word] = E(slope);
    }
  }
}

template <typename E>
void ReferenceKernels<E>::softmaxWeights(std::int64_t tokens, std::int64_t vocabulary,
                                         ConstMatrix logits, double scale, Matrix weights) const {
  const View<const E> xs(logits);
  const View<Sum<E>> ws(weights);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const E *row = &xs.at(token, 0);
    const double largest = *std::max_element(row, row + vocabulary);
    for (std::int64_t word = 0; word < vocabulary; ++word)
      ws.at(token, word) = Sum<E>(std::exp(scale * (row[word] - largest)));
  }
}

template <typename E>
void ReferenceKernels<E>::embeddingForward(std::int64_t tokens, std::int64_t width,
                                           const void *table, const std::int32_t *ids,
                                           Matrix out) const {
  const View<E> rows(out);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < width; ++column)
      rows.at(token, column) = static_cast<const E *>(table)[ids[token] * width + column];
}

template <typename E>
void ReferenceKernels<E>::embeddingBackward(std::int64_t tokens, std::int64_t width,
                                            const std::int32_t *ids, ConstMatrix dOut,
                                            void *dTable) const {
  const View<const E> gradients(dOut);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t column = 0; column < width; ++column)
      static_cast<Sum<E> *>(dTable)[ids[token] * width + column] += gradients.at(token, column);
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;
template class ReferenceKernels<BFloat16>;

} // namespace vime
