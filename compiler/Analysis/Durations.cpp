#include "compiler/Analysis/Durations.h"

#include <cmath>

namespace vime {

using plan::Opcode;

namespace {

OpcodeTimes tasksOf(std::int64_t forward, std::int64_t backwardInput, std::int64_t backwardWeight) {
  OpcodeTimes times;
  times[Opcode::Forward] = times[Opcode::Evaluate] = times[Opcode::Infer] = forward;
  times[Opcode::BackwardInput] = backwardInput;
  times[Opcode::BackwardWeight] = backwardWeight;
  times[Opcode::Backward] = backwardInput + backwardWeight;
  return times;
}

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

} // namespace

Durations unitDurations(const plan::Plan &plan, UnitCosts costs) {
  Durations durations;
  for (const plan::Model &model : plan.models)
    durations.stages.resize(
        durations.stages.size() + model.stages.size(),
        tasksOf(kUnit * costs.forward, kUnit * costs.backwardInput, kUnit * costs.backwardWeight));
  durations.boundaryLatency = kUnit * costs.transfer;
  return durations;
}

Durations declaredDurations(const plan::Plan &plan) {
  Durations durations;
  for (const plan::Model &model : plan.models)
    durations.stages.resize(durations.stages.size() + model.stages.size(),
                            tasksOf(nanoseconds(model.config.forwardSeconds),
                                    nanoseconds(model.config.backwardInputSeconds),
                                    nanoseconds(model.config.backwardWeightSeconds)));
  return durations;
}

} // namespace vime
