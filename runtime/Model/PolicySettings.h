// PolicySettings: what a plan says of the algorithm, in the words of runtime/Policy.
#pragma once

#include "runtime/Plan/Round.h"
#include "runtime/Policy/PolicyLoss.h"
#include "runtime/Policy/StepAdvantages.h"

namespace vime {

PolicyLossSettings policyLossSettings(const plan::AlgorithmSettings &algorithm);
/// Of an algorithm with the KL in the reward.
StepAdvantageSettings stepAdvantageSettings(const plan::AlgorithmSettings &algorithm);

} // namespace vime
