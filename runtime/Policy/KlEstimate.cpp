#include "runtime/Policy/KlEstimate.h"

#include <cmath>

namespace vime {

KlEstimate klEstimate(KlEstimator estimator, double logRatio) {
  switch (estimator) {
  case KlEstimator::K1:
    return {logRatio, 1};
  case KlEstimator::K2:
    return {logRatio * logRatio / 2, logRatio};
  case KlEstimator::K3:
    break;
  }
  const double grown = std::expm1(-logRatio);
  const double value = grown + logRatio;
  if (value > kMostKl)
    return {kMostKl, 0};
  return {value, -grown};
}

} // namespace vime
