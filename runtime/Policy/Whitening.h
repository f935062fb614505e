// Whitening: advantages of all tokens of a step moved to mean 0 and scaled to variance 1.
//
//   Whitening whitening;
//   for (…) whitening.addNumbers(mask, advantages);      // every microbatch of every replica
//   whitening.takeMean();
//   for (…) whitening.addSquares(mask, advantages);
//   for (…) whitening.apply(mask, advantages);
//
// Sums are exact: the result has the same bits however tokens are divided. Replicas exchange
// `numbers` and `tokens` before the mean is taken, and `squares` before it is applied.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/Policy/ExactSum.h"

namespace vime {

struct Whitening {
  ExactSum numbers, squares;
  std::uint64_t tokens = 0;
  double mean = 0;

  void addNumbers(std::span<const std::uint8_t> mask, std::span<const double> advantages);
  void takeMean();
  void addSquares(std::span<const std::uint8_t> mask, std::span<const double> advantages);
  /// (a - mean) / sqrt(variance + 1e-8), the variance over n - 1; tokens with mask 0 stay as they
  /// are. A single token becomes 0.
  void apply(std::span<const std::uint8_t> mask, std::span<double> advantages) const;
};

} // namespace vime
