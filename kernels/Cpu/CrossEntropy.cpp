// Cross-entropy over a vocabulary, loss and gradient in one visit: logits become their gradient.
// Also what generation and policies need of a softmax, by the same steps.
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

/// NaN is passed over here; it reaches the loss through the exponentials.
template <typename E> VIME_INLINE Sum<E> largest(std::int64_t count, const E *x) {
  using T = Sum<E>;
  T lane[kLanes];
  for (int l = 0; l < kLanes; ++l)
    lane[l] = x[0];
  std::int64_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    for (int l = 0; l < kLanes; ++l)
      lane[l] = x[at + l] > lane[l] ? x[at + l] : lane[l];
  for (int l = 0; at < count; ++at, ++l)
    lane[l] = x[at] > lane[l] ? x[at] : lane[l];
  T result = lane[0];
  for (int l = 1; l < kLanes; ++l)
    result = lane[l] > result ? lane[l] : result;
  return result;
}

template <typename T> VIME_INLINE T sumOf(std::int64_t count, const T *x) {
  Lanes<T> total = {};
  std::int64_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    total = total + loadLanes(x + at);
  return sum(total + loadLanes(x + at, count - at));
}

/// The sum of e^(x - top), as sumOf adds it up.
template <typename E>
VIME_INLINE Sum<E> sumOfExponentials(std::int64_t count, const E *x, Sum<E> top) {
  Lanes<Sum<E>> total = {};
  for (std::int64_t at = 0; at < count; at += kLanes) {
    Sum<E> weight[kLanes] = {};
    const int present = int(minimum(kLanes, count - at));
    for (int lane = 0; lane < present; ++lane)
      weight[lane] = exponential(x[at + lane] - top);
    total = total + loadLanes(weight);
  }
  return sum(total);
}

/// H = log(sum of w) - (sum of w d) / (sum of w), d = x - top and w = e^d.
template <typename E> struct Spread {
  Sum<E> top, total, entropy;
  Spread(std::int64_t count, const E *x) : top(largest(count, x)) {
    using T = Sum<E>;
    Lanes<T> weights = {}, products = {};
    for (std::int64_t at = 0; at < count; at += kLanes) {
      T weight[kLanes] = {}, product[kLanes] = {};
      const int present = int(minimum(kLanes, count - at));
      for (int lane = 0; lane < present; ++lane) {
        const T below = x[at + lane] - top;
        weight[lane] = exponential(below);
        product[lane] = weight[lane] * below;
      }
      weights = weights + loadLanes(weight);
      products = products + loadLanes(product);
    }
    total = sum(weights);
    entropy = logarithm(total) - sum(products) / total;
  }
};

/// Returns the loss of the row.
template <typename T> double lossOfRow(std::int64_t vocabulary, T *x, std::int32_t label, T scale) {
  const T top = largest(vocabulary, x);
  const T target = x[label] - top;
  for (std::int64_t word = 0; word < vocabulary; ++word)
    x[word] = exponential(x[word] - top);
  const T total = sumOf(vocabulary, x), factor = scale / total;
  for (std::int64_t word = 0; word < vocabulary; ++word)
    x[word] *= factor;
  x[label] -= scale;
  return double(logarithm(total) - target);
}

/// The same without a place for exponentials: they are taken twice, so that a gradient is rounded
/// once.
double lossOfRow(std::int64_t vocabulary, BFloat16 *x, std::int32_t label, float scale) {
  const float top = largest(vocabulary, x);
  const float target = x[label] - top;
  const float total = sumOfExponentials(vocabulary, x, top), factor = scale / total;
  const float ofLabel = exponential(target) * factor - scale;
  for (std::int64_t word = 0; word < vocabulary; ++word)
    x[word] = BFloat16(exponential(x[word] - top) * factor);
  x[label] = BFloat16(ofLabel);
  return double(logarithm(total) - target);
}

/// What lossOfRow returns, negated, where the row stays.
template <typename E>
double logProbability(std::int64_t vocabulary, const E *x, std::int32_t label) {
  const Sum<E> top = largest(vocabulary, x);
  const Sum<E> target = x[label] - top;
  return -double(logarithm(sumOfExponentials(vocabulary, x, top)) - target);
}

/// A row's gradient by the log-probability of its label and by its entropy.
template <typename E>
void differentiate(std::int64_t vocabulary, E *x, std::int32_t label, Sum<E> byLogProbability,
                   Sum<E> byEntropy) {
  using T = Sum<E>;
  const Spread<E> of(vocabulary, x);
  const T factor = 1 / of.total, logTotal = logarithm(of.total);
  const T first = byLogProbability + byEntropy * (of.entropy - logTotal);
  const auto shared = [&](T logit) {
    const T below = logit - of.top;
    return -(exponential(below) * factor) * (first + byEntropy * below);
  };
  const T ofLabel = shared(x[label]) + byLogProbability;
  for (std::int64_t word = 0; word < vocabulary; ++word)
    x[word] = E(shared(x[word]));
  x[label] = E(ofLabel);
}

} // namespace

template <typename E>
double CpuKernels<E>::crossEntropy(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                                   const std::int32_t *labels, double scale) const {
  double loss = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    E *row = rowOf<E>(logits, token);
    if (labels[token] >= 0)
      loss += lossOfRow(vocabulary, row, labels[token], Sum<E>(scale));
    else
      for (std::int64_t word = 0; word < vocabulary; ++word)
        row[word] = E(0.f);
  }
  return loss;
}

template <typename E>
void CpuKernels<E>::logProbabilities(std::int64_t tokens, std::int64_t vocabulary,
                                     ConstMatrix logits, const std::int32_t *labels,
                                     double *logProbabilities) const {
  for (std::int64_t token = 0; token < tokens; ++token)
    logProbabilities[token] = logProbability(vocabulary, rowOf<E>(logits, token), labels[token]);
}

template <typename E>
void CpuKernels<E>::entropies(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                              double *entropies) const {
  for (std::int64_t token = 0; token < tokens; ++token)
    entropies[token] = double(Spread<E>(vocabulary, rowOf<E>(logits, token)).entropy);
}

template <typename E>
void CpuKernels<E>::logProbabilitiesBackward(std::int64_t tokens, std::int64_t vocabulary,
                                             Matrix logits, const std::int32_t *labels,
                                             const double *byLogProbability,
                                             const double *byEntropy) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    E *row = rowOf<E>(logits, token);
    if (labels[token] < 0)
      for (std::int64_t word = 0; word < vocabulary; ++word)
        row[word] = E(0.f);
    else if (byEntropy)
      differentiate(vocabulary, row, labels[token], Sum<E>(byLogProbability[token]),
                    Sum<E>(byEntropy[token]));
    else // a loss but for its scale
      lossOfRow(vocabulary, row, labels[token], Sum<E>(-byLogProbability[token]));
  }
}

template <typename E>
void CpuKernels<E>::softmaxWeights(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                                   double scale, Matrix weights) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    const E *x = rowOf<E>(logits, token);
    Sum<E> *weight = rowOf<Sum<E>>(weights, token);
    const Sum<E> top = largest(vocabulary, x), factor = Sum<E>(scale);
    for (std::int64_t word = 0; word < vocabulary; ++word)
      weight[word] = exponential((x[word] - top) * factor);
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template double CpuKernels<T>::crossEntropy(std::int64_t, std::int64_t, Matrix,                  \
                                              const std::int32_t *, double) const;                 \
  template void CpuKernels<T>::logProbabilities(std::int64_t, std::int64_t, ConstMatrix,           \
                                                const std::int32_t *, double *) const;             \
  template void CpuKernels<T>::entropies(std::int64_t, std::int64_t, ConstMatrix, double *) const; \
  template void CpuKernels<T>::logProbabilitiesBackward(std::int64_t, std::int64_t, Matrix,        \
                                                        const std::int32_t *, const double *,      \
                                                        const double *) const;                     \
  template void CpuKernels<T>::softmaxWeights(std::int64_t, std::int64_t, ConstMatrix, double,     \
                                              Matrix) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
