// engineRates: what a step of an engine costs on a machine: as the machine says it, or by the
// roofline of its kernels.
//
//   engine: {step: {value: 1.2 ms, source: …}, token: {value: 9 us, source: …}}
//
// Without these two figures: each token takes its products with all layers' weights, attention 4
// operations for each key it sees and element of the heads, the head one product for each token
// drawn; a step reads all weights and what is cached of its sequences. Nothing else counts, not
// even launching kernels: it is a lower bound, as low as the machine's shares are true.
#pragma once

#include <string>

#include "compiler/Analysis/EngineBatches.h"
#include "compiler/Machine/PartTimes.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct EngineRates {
  EngineCosts costs;
  std::string origin;
};

/// Of the plan's trained model. `InvalidInput` if the machine does not say it.
StatusOr<EngineRates> engineRates(const Machine &machine, const plan::Plan &plan,
                                  UsedFigures &used);

} // namespace vime
