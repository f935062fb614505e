#include "runtime/Model/PolicySettings.h"

namespace vime {
namespace {

Objective objectiveOf(plan::PolicyObjective objective) {
  switch (objective) {
  case plan::PolicyObjective::PpoClip:
    return Objective::PpoClip;
  case plan::PolicyObjective::Gspo:
    return Objective::Gspo;
  case plan::PolicyObjective::Cispo:
    return Objective::Cispo;
  case plan::PolicyObjective::Reinforce:
    break;
  }
  return Objective::Reinforce;
}

KlEstimator estimatorOf(plan::KlEstimator estimator) {
  switch (estimator) {
  case plan::KlEstimator::K1:
    return KlEstimator::K1;
  case plan::KlEstimator::K2:
    return KlEstimator::K2;
  case plan::KlEstimator::K3:
    break;
  }
  return KlEstimator::K3;
}

Correction correctionOf(plan::Correction correction) {
  switch (correction) {
  case plan::Correction::None:
    return Correction::None;
  case plan::Correction::Truncated:
    return Correction::Truncated;
  case plan::Correction::IcePop:
    break;
  }
  return Correction::IcePop;
}

} // namespace

PolicyLossSettings policyLossSettings(const plan::AlgorithmSettings &algorithm) {
  PolicyLossSettings settings{.objective = objectiveOf(algorithm.objective),
                              .clipLow = algorithm.clipLow,
                              .clipHigh = algorithm.clipHigh,
                              .offPolicy = {.correction = correctionOf(algorithm.correction),
                                            .low = algorithm.correctionLow,
                                            .high = algorithm.correctionHigh},
                              .entropy = algorithm.entropy};
  if (algorithm.dualClip != 0)
    settings.dualClip = algorithm.dualClip;
  if (algorithm.klCoefficient != 0)
    settings.kl = {estimatorOf(algorithm.klEstimator),
                   algorithm.klInReward ? 0 : algorithm.klCoefficient};
  return settings;
}

StepAdvantageSettings stepAdvantageSettings(const plan::AlgorithmSettings &algorithm) {
  return {.discounts = algorithm.advantage == plan::AdvantageRule::ReinforcePlusPlus,
          .estimator = estimatorOf(algorithm.klEstimator),
          .coefficient = algorithm.klCoefficient};
}

} // namespace vime
