// Reference: rotary positions and causal attention.
#include "kernels/Reference/ReferenceKernels.h"

#include <cmath>
#include <vector>

namespace vime {

template <typename E>
void ReferenceKernels<E>::ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                                    void *table) const {
  const View<Sum<E>> rows(Matrix{table, headWidth});
  for (std::int64_t position = 0; position < positions; ++position)
    for (std::int32_t pair = 0; pair < headWidth / 2; ++pair) {
      const float exponent = float(2 * pair) / float(headWidth);
      const float frequency = 1.f / float(std::pow(theta, double(exponent)));
      const double angle = float(position) * frequency;
      rows.at(position, pair) = Sum<E>(std::cos(angle));
      rows.at(position, headWidth / 2 + pair) = Sum<E>(std::sin(angle));
    }
}

template <typename E>
void ReferenceKernels<E>::rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth,
                               const void *table, bool inverse, Matrix x) const {
  const View<E> xs(x);
  const View<const Sum<E>> angles(ConstMatrix{table, headWidth});
  const std::int32_t half = headWidth / 2;
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int64_t token = segments.offsets[segment]; token < segments.offsets[segment + 1];
         ++token)
      for (std::int32_t head = 0; head < heads; ++head)
        for (std::int32_t pair = 0; pair < half; ++pair) {
          const std::int64_t position = token - segments.offsets[segment];
          const double cosine = angles.at(position, pair);
          const double sine = angles.at(position, half + pair) * (inverse ? -1. : 1.);
          E &first = xs.at(token, head * headWidth + pair);
          E &second = xs.at(token, head * headWidth + half + pair);
          const double a = first, b = second;
          first = E(a * cosine - b * sine);
          second = E(b * cosine + a * sine);
        }
}

namespace {

/// One query head of one segment, as functions of (token, column).
template <typename T> struct Head {
  View<T> qkv;
  std::int64_t start, query, key, value; // first row; first columns
  std::int32_t width;
  double scale;

  Head(const Attention &attention, View<T> qkv, std::int64_t start, std::int32_t head)
      : qkv(qkv), start(start), query(std::int64_t(head) * attention.headWidth),
        key(attention.queryWidth() +
            head / (attention.heads / attention.keyValueHeads) * attention.headWidth),
        value(key + attention.keyValueWidth()), width(attention.headWidth),
        scale(1 / std::sqrt(double(attention.headWidth))) {}
  double q(std::int64_t token, std::int64_t column) const {
    return qkv.at(start + token, query + column);
  }
  double k(std::int64_t token, std::int64_t column) const {
    return qkv.at(start + token, key + column);
  }
  double v(std::int64_t token, std::int64_t column) const {
    return qkv.at(start + token, value + column);
  }
  double score(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int32_t column = 0; column < width; ++column)
      sum += q(i, column) * k(j, column);
    return sum * scale;
  }
};

} // namespace

template <typename E>
void ReferenceKernels<E>::attentionForward(const Attention &attention, const Segments &segments,
                                           ConstMatrix qkv, Matrix out, void *lse, void *) const {
  const View<E> outs(out);
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int32_t h = 0; h < attention.heads; ++h) {
      const std::int64_t start = segments.offsets[segment];
      const Head<const E> head(attention, View<const E>(qkv), start, h);
      for (std::int64_t query = 0; start + query < segments.offsets[segment + 1]; ++query) {
        double largest = head.score(query, 0), sum = 0;
        for (std::int64_t key = 1; key <= query; ++key)
          largest = std::max(largest, head.score(query, key));
        std::vector<double> weighted(std::size_t(head.width), 0.);
        for (std::int64_t key = 0; key <= query; ++key) {
          const double weight = std::exp(head.score(query, key) - largest);
          sum += weight;
          for (std::int32_t column = 0; column < head.width; ++column)
            weighted[std::size_t(column)] += weight * head.v(key, column);
        }
        for (std::int32_t column = 0; column < head.width; ++column)
          outs.at(start + query, head.query + column) = E(weighted[std::size_t(column)] / sum);
        static_cast<Sum<E> *>(lse)[(start + query) * attention.heads + h] =
            Sum<E>(largest + std::log(sum));
      }
    }
}

template <typename E>
void ReferenceKernels<E>::attentionBackward(const Attention &attention, const Segments &segments,
                                            Matrix qkv, ConstMatrix out, ConstMatrix dOut,
                                            const void *lse, void *) const {
  const View<E> values(qkv);
  const View<const E> outs(out), dOuts(dOut);
  const std::int64_t columns = attention.qkvWidth();
  std::vector<double> gradient(std::size_t(segments.tokens() * columns), 0.);
  const auto at = [&](std::int64_t token, std::int64_t column) -> double & {
    return gradient[std::size_t(token * columns + column)];
  };
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int32_t h = 0; h < attention.heads; ++h) {
      const std::int64_t start = segments.offsets[segment];
      const Head<E> head(attention, values, start, h);
      for (std::int64_t i = 0; start + i < segments.offsets[segment + 1]; ++i) {
        const auto d = [&](std::int32_t column) {
          return double(dOuts.at(start + i, head.query + column));
        };
        double delta = 0;
        for (std::int32_t column = 0; column < head.width; ++column)
          delta += d(column) * outs.at(start + i, head.query + column);
        for (std::int64_t j = 0; j <= i; ++j) {
          const double logSum = static_cast<const Sum<E> *>(lse)[(start + i) * attention.heads + h];
          const double weight = std::exp(head.score(i, j) - logSum);
          double dWeight = 0;
          for (std::int32_t column = 0; column < head.width; ++column)
            dWeight += d(column) * head.v(j, column);
          const double dScore = weight * (dWeight - delta) * head.scale;
          for (std::int32_t column = 0; column < head.width; ++column) {
            at(start + i, head.query + column) += dScore * head.k(j, column);
            at(start + j, head.key + column) += dScore * head.q(i, column);
            at(start + j, head.value + column) += weight * d(column);
          }
        }
      }
    }
  for (std::int64_t token = 0; token < segments.tokens(); ++token)
    for (std::int64_t column = 0; column < columns; ++column)
      values.at(token, column) = E(at(token, column));
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;
template class ReferenceKernels<BFloat16>;

} // namespace vime
