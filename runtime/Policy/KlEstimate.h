// KlEstimate: how far the policy is from its reference, estimated at one sampled token.
//
//   klEstimate(KlEstimator::K3, logProbability - reference).value
//
// With x = log p - log p_ref: k1 = x, k2 = x²/2, k3 = e^-x - 1 + x (Schulman 2020). All are exactly
// 0 where the two agree.
#pragma once

#include <cstdint>

namespace vime {

enum class KlEstimator : std::uint8_t { K1, K2, K3 };

/// k3 grows with e^-x; it counts as no more than this, and then has no slope.
constexpr double kMostKl = 10;

struct KlEstimate {
  double value;
  double slope; // by log p
};

KlEstimate klEstimate(KlEstimator estimator, double logRatio);

} // namespace vime
