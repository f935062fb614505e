#include "compiler/Driver/StepFacts.h"

#include "compiler/Analysis/Slack.h"

namespace vime {

StepFacts stepFactsOf(const verify::ActionTable &table, const PlanCosts &costs,
                      const Simulated &run, std::uint32_t laterMicrobatches) {
  StepFacts facts{.report = reportOf(table, run),
                  .links = linkLoadsOf(table, run),
                  .memory = {},
                  .order = orderFactsOf(table, costs.durations),
                  .binding = {},
                  .round = {},
                  .drawn = {}};
  facts.report.slack = slackOf(table, costs.durations, run);
  for (const verify::RankView &rank : table.ranks())
    facts.memory.push_back(memoryUseOf(table, rank));
  facts.binding = bindingBound(table, facts.order.bounds);
  const plan::Plan &plan = table.plan();
  if (beginsRound(table)) {
    const std::uint32_t own = table.choice().of(plan::Decision::Microbatches);
    facts.round =
        plan.round.rollout.steps == 1
            ? roundOf(plan, facts.report, facts.report)
            : roundOf(plan, facts.report,
                      simulatedStep(plan, costs.durations,
                                    {.beginsRound = false,
                                     .microbatches = laterMicrobatches ? laterMicrobatches : own}));
  }
  return facts;
}

} // namespace vime
