#include "compiler/Driver/PlanCosts.h"

#include <fmt/format.h>

#include "compiler/Driver/Costs.h"

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

} // namespace vime
