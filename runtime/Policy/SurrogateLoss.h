// SurrogateLoss: the objective at one token, by the ratio of probabilities.
//
//   surrogateLoss({.clipHigh = 0.28}, /*ratio=*/1.3, /*advantage=*/2, logProbability).clipped  //
//   true
#pragma once

#include "runtime/Policy/PolicyLoss.h"

namespace vime {

struct SurrogateLoss {
  double loss;
  double slope; // by the logarithm of the ratio, or of the probability
  bool clipped;
};

SurrogateLoss surrogateLoss(const PolicyLossSettings &settings, double ratio, double advantage,
                            double logProbability);

} // namespace vime
