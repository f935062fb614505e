#include "runtime/Policy/SurrogateLoss.h"

#include <algorithm>

namespace vime {
namespace {

SurrogateLoss clippedLoss(const PolicyLossSettings &settings, double ratio, double advantage) {
  if (advantage > 0 && ratio > 1 + settings.clipHigh)
    return {-(1 + settings.clipHigh) * advantage, 0, true};
  if (advantage < 0 && ratio < 1 - settings.clipLow)
    return {-(1 - settings.clipLow) * advantage, 0, true};
  if (advantage < 0 && settings.dualClip && ratio > *settings.dualClip)
    return {-*settings.dualClip * advantage, 0, true};
  return {-ratio * advantage, -ratio * advantage, false};
}

} // namespace

SurrogateLoss surrogateLoss(const PolicyLossSettings &settings, double ratio, double advantage,
                            double logProbability) {
  switch (settings.objective) {
  case Objective::PpoClip:
  case Objective::Gspo:
    return clippedLoss(settings, ratio, advantage);
  case Objective::Cispo: {
    const double kept = std::clamp(ratio, 1 - settings.clipLow, 1 + settings.clipHigh);
    return {-kept * advantage * logProbability, -kept * advantage, kept != ratio};
  }
  case Objective::Reinforce:
    return {-advantage * logProbability, -advantage, false};
  case Objective::Likelihood:
    break;
  }
  return {-logProbability, -1, false};
}

} // namespace vime
