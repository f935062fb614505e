#include "compiler/Driver/StepFacts.h"

#include "compiler/Analysis/Slack.h"
#include "runtime/Plan/Decisions.h"

namespace vime {

StepFacts stepFactsOf(const plan::Plan &plan, const verify::ActionTable &table,
                      const PlanCosts &costs, const Simulated &run) {
  StepFacts facts{.report = reportOf(table, run),
                  .links = linkLoadsOf(table, run),
                  .memory = {},
                  .order = orderFactsOf(table, costs.durations),
                  .binding = {}};
  facts.report.slack = slackOf(table, costs.durations, run);
  for (const verify::RankView &rank : table.ranks())
    facts.memory.push_back(memoryUseOf(table, rank));
  const Bounds &bounds = facts.order.bounds;
  facts.binding = isPostValidated(plan) ? bounds.span : bounds.makespan;
  if (bounds.link > facts.binding.least)
    facts.binding = {bounds.link, "L5"};
  return facts;
}

} // namespace vime
