// SleepTimes: what actions of stages that sleep, or do nothing, take: what the job declares, and
// what was measured besides.
#pragma once

#include "compiler/Machine/Machine.h"
#include "compiler/Machine/PartTimes.h"

namespace vime {

/// Their stages have no work: all take the same.
constexpr bool isEmpty(ModelFamily family) {
  return family == ModelFamily::Null || family == ModelFamily::Sleep;
}

/// Seconds that a stage of the model is declared to sleep.
double declaredSeconds(const ModelConfig &model, plan::Opcode opcode);

/// `layer` stands for a stage.
PartTimes sleepTimes(const Machine &machine, const ModelConfig &model, plan::Opcode opcode);

} // namespace vime
