// OffPolicy: what is done about tokens that were sampled with other probabilities than the
// trainer's: by an engine with its own arithmetic, or by older weights.
//
//   offPolicyWeight({.correction = Correction::IcePop, .low = 0.5, .high = 2}, ratio)
//
// `ratio` is p / q, of the trainer's policy to the sampler's. Weights multiply the loss of a token
// and have no slope; denominators stay what they are.
#pragma once

#include <cstdint>
#include <limits>

namespace vime {

enum class Correction : std::uint8_t {
  None,
  Truncated, // TIS: the ratio, but no less than low and no more than high
  IcePop,    // the ratio, or 0 outside of low … high (2510.18855)
};

struct OffPolicy {
  Correction correction = Correction::None;
  double low = 0, high = 2;
  /// Tokens with an advantage below 0 are left out of a sequence that has moved farther than this:
  /// the mean of log p_old - log p over its tokens (OPSM; 1e-4 is usual).
  double mostDrift = std::numeric_limits<double>::infinity();
};

inline double offPolicyWeight(const OffPolicy &settings, double ratio) {
  const bool below = ratio<settings.low, above = ratio> settings.high;
  switch (settings.correction) {
  case Correction::None:
    return 1;
  case Correction::Truncated:
    return below ? settings.low : above ? settings.high : ratio;
  case Correction::IcePop:
    break;
  }
  return below || above ? 0 : ratio;
}

} // namespace vime
