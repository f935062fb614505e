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
          const std::int64_t position = segments.first + token - segments.offsets[segment];
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

/// One query head of one segment, as functions of (position, column).
template <typename T> struct Head {
  using Element = std::remove_const_t<T>;
  View<T> qkv;
  View<const Element> earlier;           // of the slices before
  std::int64_t start, first, earlierRow; // first rows; first position of the slice
  std::int64_t query, key, value, earlierKey, earlierValue; // first columns
  std::int32_t width;
  double scale;

  Head(const Attention &attention, View<T> qkv, const Segments &segments,
       const SliceContext &context, std::int32_t segment, std::int32_t head)
      : qkv(qkv), earlier(context.keyValues), start(segments.offsets[segment]),
        first(segments.first), earlierRow(segment * context.rows),
        query(std::int64_t(head) * attention.headWidth),
        key(attention.queryWidth() +
            head / (attention.heads / attention.keyValueHeads) * attention.headWidth),
        value(key + attention.keyValueWidth()), earlierKey(key - attention.queryWidth()),
        earlierValue(value - attention.queryWidth()), width(attention.headWidth),
        scale(1 / std::sqrt(double(attention.headWidth))) {}
  double q(std::int64_t token, std::int64_t column) const {
    return qkv.at(start + token - first, query + column);
  }
  double k(std::int64_t token, std::int64_t column) const {
    return token < first ? double(earlier.at(earlierRow + token, earlierKey + column))
                         : double(qkv.at(start + token - first, key + column));
  }
  double v(std::int64_t token, std::int64_t column) const {
    return token < first ? double(earlier.at(earlierRow + token, earlierValue + column))
                         : double(qkv.at(start + token - first, value + column));
  }
  double score(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int32_t column = 0; column < width; ++column)
      sum += q(i, column) * k(j, column);
    return sum * scale;
  }
};

/// Position behind the last token of a segment.
std::int64_t endOf(const Segments &segments, std::int32_t segment) {
  return segments.first + segments.offsets[segment + 1] - segments.offsets[segment];
}

} // namespace

template <typename E>
void ReferenceKernels<E>::attentionForward(const Attention &attention, const Segments &segments,
                                           const SliceContext &context, ConstMatrix qkv, Matrix out,
                                           void *lse, void *) const {
  const View<E> outs(out);
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int32_t h = 0; h < attention.heads; ++h) {
      const Head<const E> head(attention, View<const E>(qkv), segments, context, segment, h);
      for (std::int64_t query = segments.first; query < endOf(segments, segment); ++query) {
        const std::int64_t row = head.start + query - segments.first;
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
          outs.at(row, head.query + column) = E(weighted[std::size_t(column)] / sum);
        static_cast<Sum<E> *>(lse)[row * attention.heads + h] = Sum<E>(largest + std::log(sum));
      }
    }
}

template <typename E>
void ReferenceKernels<E>::attentionWithCache(const Attention &attention, std::int64_t first,
                                             std::int64_t tokens, ConstMatrix qkv,
                                             KeyValueCache cache, Matrix out, void *) const {
  std::vector<Sum<E>> lse(std::size_t(tokens * attention.heads));
  attentionWithRows(*this, attention, first, tokens, qkv, cache, out, lse.data(), nullptr);
}

template <typename E>
void ReferenceKernels<E>::copyCached(const Attention &attention, std::int64_t tokens,
                                     KeyValueCache from, KeyValueCache to) const {
  copyCachedRows(*this, attention, tokens, from, to);
}

template <typename E>
void ReferenceKernels<E>::attentionBackward(const Attention &attention, const Segments &segments,
                                            const SliceContext &context, Matrix qkv,
                                            ConstMatrix out, ConstMatrix dOut, const void *lse,
                                            void *) const {
  const View<E> values(qkv);
  const View<const E> outs(out), dOuts(dOut);
  const View<Sum<E>> shared(context.gradients);
  const std::int64_t columns = attention.qkvWidth(), queries = attention.queryWidth();
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t first = segments.first, end = endOf(segments, segment),
                       start = segments.offsets[segment], above = segment * context.rows;
    // Of every position; those before the slice have no queries here.
    std::vector<double> gradient(std::size_t(end * columns), 0.);
    const auto at = [&](std::int64_t token, std::int64_t column) -> double & {
      return gradient[std::size_t(token * columns + column)];
    };
    for (std::int64_t token = 0; token < end && context.rows != 0 && !context.isLast; ++token)
      for (std::int64_t column = queries; column < columns; ++column)
        at(token, column) = shared.at(above + token, column - queries);
    for (std::int32_t h = 0; h < attention.heads; ++h) {
      const Head<E> head(attention, values, segments, context, segment, h);
      for (std::int64_t i = first; i < end; ++i) {
        const std::int64_t row = start + i - first;
        const auto d = [&](std::int32_t column) {
          return double(dOuts.at(row, head.query + column));
        };
        double delta = 0;
        for (std::int32_t column = 0; column < head.width; ++column)
          delta += d(column) * outs.at(row, head.query + column);
        for (std::int64_t j = 0; j <= i; ++j) {
          const double logSum = static_cast<const Sum<E> *>(lse)[row * attention.heads + h];
          const double weight = std::exp(head.score(i, j) - logSum);
          double dWeight = 0;
          for (std::int32_t column = 0; column < head.width; ++column)
            dWeight += d(column) * head.v(j, column);
          const double dScore = weight * (dWeight - delta) * head.scale;
          for (std::int32_t column = 0; column < head.width; ++column) {
            at(i, head.query + column) += dScore * head.k(j, column);
            at(j, head.key + column) += dScore * head.q(i, column);
            at(j, head.value + column) += weight * d(column);
          }
        }
      }
    }
    for (std::int64_t token = 0; token < first; ++token)
      for (std::int64_t column = queries; column < columns; ++column)
        shared.at(above + token, column - queries) = Sum<E>(at(token, column));
    for (std::int64_t token = first; token < end; ++token)
      for (std::int64_t column = 0; column < columns; ++column)
        values.at(start + token - first, column) = E(at(token, column));
  }
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;
template class ReferenceKernels<BFloat16>;

} // namespace vime
