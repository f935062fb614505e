#include "compiler/Machine/SleepTimes.h"

#include <fmt/format.h>

#include "compiler/Machine/FigureText.h"

namespace vime {

using plan::Opcode;

namespace {

/// What was measured of such stages; halves of a backward, where only the whole was, share it.
double measuredBesides(const MeasuredTimes &stage, Opcode opcode) {
  const auto in = [&](Opcode other) {
    const auto found = stage.find(other);
    return found == stage.end() ? 0 : found->second.seconds;
  };
  if (stage.contains(opcode))
    return in(opcode);
  switch (opcode) {
  case Opcode::Backward:
    return in(Opcode::BackwardInput) + in(Opcode::BackwardWeight);
  case Opcode::BackwardInput:
  case Opcode::BackwardWeight:
    return in(Opcode::Backward) / 2;
  case Opcode::Evaluate:
    return in(Opcode::Forward);
  case Opcode::EvaluateLoss:
    return in(Opcode::Loss);
  default:
    return 0;
  }
}

} // namespace

double declaredSeconds(const ModelConfig &model, Opcode opcode) {
  switch (opcode) {
  case Opcode::Forward:
  case Opcode::Evaluate:
    return model.forwardSeconds;
  case Opcode::BackwardInput:
    return model.backwardInputSeconds;
  case Opcode::BackwardWeight:
    return model.backwardWeightSeconds;
  case Opcode::Backward:
    return model.backwardInputSeconds + model.backwardWeightSeconds;
  default:
    return 0;
  }
}

PartTimes sleepTimes(const Machine &machine, const ModelConfig &model, Opcode opcode) {
  const double declared = declaredSeconds(model, opcode);
  PartTimes times{.layer = declared, .origin = "declared by the job"};
  const double besides = machine.measured && isEmpty(machine.measured->model.family)
                             ? measuredBesides(machine.measured->stage, opcode)
                             : 0;
  if (besides == 0)
    return times;
  times.layer += besides;
  times.origin = declared == 0 ? std::string("measured")
                               : fmt::format("declared by the job, and {} measured besides",
                                             printFigure(FigureKind::Seconds, besides));
  return times;
}

} // namespace vime
