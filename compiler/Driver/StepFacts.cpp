#include "compiler/Driver/StepFacts.h"

#include "compiler/Analysis/Slack.h"

namespace vime {

StepFacts stepFactsOf(const verify::ActionTable &table, const PlanCosts &costs,
                      const Simulated &run) {
  StepFacts facts{.report = reportOf(table, run),
                  .links = linkLoadsOf(table, run),
                  .memory = {},
                  .order = orderFactsOf(table, costs.durations),
                  .binding = {}};
  facts.report.slack = slackOf(table, costs.durations, run);
  for (const verify::RankView &rank : table.ranks())
    facts.memory.push_back(memoryUseOf(table, rank));
  facts.binding = bindingBound(table, facts.order.bounds);
  return facts;
}

} // namespace vime
