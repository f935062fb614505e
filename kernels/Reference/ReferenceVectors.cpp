// Reference: whole vectors, AdamW, and the first values of parameters.
#include "kernels/Reference/ReferenceKernels.h"

#include <array>
#include <cmath>

namespace vime {

template <typename E>
void ReferenceKernels<E>::fill(std::int64_t count, double value, void *x) const {
  for (std::int64_t at = 0; at < count; ++at)
    static_cast<Sum<E> *>(x)[at] = Sum<E>(value);
}

template <typename E>
void ReferenceKernels<E>::add(std::int64_t count, const void *y, void *x) const {
  for (std::int64_t at = 0; at < count; ++at)
    static_cast<Sum<E> *>(x)[at] += static_cast<const Sum<E> *>(y)[at];
}

template <typename E>
void ReferenceKernels<E>::scale(std::int64_t count, double factor, void *x) const {
  for (std::int64_t at = 0; at < count; ++at)
    static_cast<Sum<E> *>(x)[at] *= Sum<E>(factor);
}

template <typename E>
void ReferenceKernels<E>::adamw(const AdamW &adamw, std::int64_t count, const void *gradients,
                                void *parameters, void *moments1, void *moments2,
                                void *rounded) const {
  auto *p = static_cast<Sum<E> *>(parameters), *m = static_cast<Sum<E> *>(moments1),
       *v = static_cast<Sum<E> *>(moments2);
  for (std::int64_t at = 0; at < count; ++at) {
    const double g = static_cast<const Sum<E> *>(gradients)[at] * adamw.gradientScale;
    const double mean = adamw.beta1 * m[at] + (1 - adamw.beta1) * g;
    const double square = adamw.beta2 * v[at] + (1 - adamw.beta2) * g * g;
    const double root = std::sqrt(square / adamw.biasCorrection2);
    m[at] = Sum<E>(mean);
    v[at] = Sum<E>(square);
    p[at] = Sum<E>(p[at] * (1 - adamw.learningRate * adamw.weightDecay) -
                   adamw.learningRate * mean / adamw.biasCorrection1 / (root + adamw.epsilon));
  }
  if (rounded)
    round(count, parameters, rounded);
}

template <typename E>
void ReferenceKernels<E>::round(std::int64_t count, const void *x, void *rounded) const {
  for (std::int64_t at = 0; at < count; ++at)
    static_cast<E *>(rounded)[at] = E(static_cast<const Sum<E> *>(x)[at]);
}

namespace {

/// Philox4x32-10 (Salmon et al. 2011), figure 2 and table 2.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = 0xd2511f53ull * counter[0], right = 0xcd9e8d57ull * counter[2];
    counter = {std::uint32_t(right >> 32) ^ counter[1] ^ key[0], std::uint32_t(right),
               std::uint32_t(left >> 32) ^ counter[3] ^ key[1], std::uint32_t(left)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

double unit(std::uint32_t high, std::uint32_t low) {
  return (double((std::uint64_t(high) << 32 | low) >> 12) + .5) / std::pow(2., 52);
}

double drawnValue(const Initializer &initializer, std::int64_t element) {
  const auto halves = [](std::uint64_t word) {
    return std::array{std::uint32_t(word), std::uint32_t(word >> 32)};
  };
  const auto index = halves(std::uint64_t(element / 2)), stream = halves(initializer.tensor);
  const auto bits = philox({index[0], index[1], stream[0], stream[1]}, halves(initializer.seed));
  const double u = unit(bits[0], bits[1]), w = unit(bits[2], bits[3]);
  const bool second = element % 2;
  if (initializer.kind == Initializer::Kind::Uniform)
    return 2 * (second ? w : u) - 1;
  const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * M_PI * w;
  return radius * (second ? std::sin(angle) : std::cos(angle));
}

} // namespace

template <typename E>
void ReferenceKernels<E>::initialize(const Initializer &initializer, std::int64_t first,
                                     std::int64_t count, void *values) const {
  for (std::int64_t at = 0; at < count; ++at)
    static_cast<Sum<E> *>(values)[at] =
        Sum<E>(initializer.center + initializer.spread * drawnValue(initializer, first + at));
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;
template class ReferenceKernels<BFloat16>;

const Kernels *referenceKernels(DataType type) {
  static const ReferenceKernels<float> float32;
  static const ReferenceKernels<double> float64;
  static const ReferenceKernels<BFloat16> bfloat16;
  switch (type) {
  case DataType::Float32:
    return &float32;
  case DataType::Float64:
    return &float64;
  case DataType::BFloat16:
    return &bfloat16;
  default:
    return nullptr;
  }
}

} // namespace vime
