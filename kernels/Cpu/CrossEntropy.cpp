// Cross-entropy over a vocabulary, loss and gradient in one visit: logits become their gradient.
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

/// NaN is passed over here; it reaches the loss through the exponentials.
template <typename T> VIME_INLINE T largest(std::int64_t count, const T *x) {
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

} // namespace

template <typename T>
double CpuKernels<T>::crossEntropy(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                                   const std::int32_t *labels, double scale) const {
  double loss = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    T *row = rowOf<T>(logits, token);
    if (labels[token] >= 0)
      loss += lossOfRow(vocabulary, row, labels[token], T(scale));
    else
      for (std::int64_t word = 0; word < vocabulary; ++word)
        row[word] = T(0);
  }
  return loss;
}

template double CpuKernels<float>::crossEntropy(std::int64_t, std::int64_t, Matrix,
                                                const std::int32_t *, double) const;
template double CpuKernels<double>::crossEntropy(std::int64_t, std::int64_t, Matrix,
                                                 const std::int32_t *, double) const;

} // namespace vime::ISA
