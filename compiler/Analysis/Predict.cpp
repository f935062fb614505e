#include "compiler/Analysis/Predict.h"

#include <algorithm>

#include "compiler/Analysis/StepReport.h"

namespace vime {

void predict(plan::Plan &plan, const Durations &durations, std::string costs) {
  const verify::ActionTable table(plan, steadyStepOf(plan));
  const Simulated run = simulate(table, durations);
  if (run.stuck)
    return; // no plan that was proved
  const StepReport report = reportOf(table, run);
  plan.predictions.costs = std::move(costs);
  plan.predictions.stepSeconds = static_cast<double>(report.period - report.rollout.all()) * 1e-9;
  plan.predictions.expectedBubble = std::clamp(report.bubble, 0.0, 1.0);
}

} // namespace vime
