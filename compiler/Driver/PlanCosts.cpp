#include "compiler/Driver/PlanCosts.h"

#include <fmt/format.h>

#include "compiler/Analysis/Measured.h"
#include "compiler/Driver/Costs.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

std::string PlanCosts::show(std::int64_t nanoseconds) const {
  std::string text = fmt::format("{:.3f}", static_cast<double>(nanoseconds) / perUnit);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text;
}

PlanCosts costsOf(const plan::Plan &plan, const std::string &costs) {
  if (costs.empty() && plan.models[0].config.family == ModelFamily::Sleep)
    return {declaredDurations(plan),
            "as long as the job says that stages sleep; nothing else takes time", "ms", 1e6};
  const UnitCosts units = readCosts(costs).value_or(UnitCosts{});
  return {unitDurations(plan, units),
          fmt::format("of each stage F {}, I {}, W {}, a transfer {}; nothing else takes time",
                      units.forward, units.backwardInput, units.backwardWeight, units.transfer),
          "units", static_cast<double>(kUnit)};
}

StatusOr<Measured> measuredIn(const std::string &folder, const plan::Plan &plan,
                              const verify::ActionTable &table) {
  StatusOr<std::vector<trace::RankTrace>> traces = readTraces(folder, table, plan::planId(plan));
  if (!traces.ok())
    return traces.status();
  const std::optional<std::uint32_t> step = lastStepOf(table, *traces);
  if (!step)
    return Status(StatusCode::InvalidInput,
                  "no step of `" + folder +
                      "` was traced from its begin to its end on all ranks\nhelp: trace steps that "
                      "the run has, of whole batches: `--trace-steps 1:3`");
  alignClocks(table, *traces);
  return Measured{{measuredDurations(table, *traces),
                   fmt::format("medians of the steps traced in {}", folder), "ms", 1e6},
                  measuredStep(table, *traces, *step),
                  *step};
}

} // namespace vime
