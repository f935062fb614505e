#include "compiler/Lowering/BuildOrder.h"

#include "schedules/Registry.h"

namespace vime {

std::optional<Schedule> buildOrder(const Job &job, Findings &findings) {
  const auto &pipeline = job.pipeline;
  const Order *order = findOrder(pipeline.schedule.value);
  if (order == nullptr) {
    findings.error(Rule::S2, 2, "unknown schedule `" + pipeline.schedule.value + "`")
        .at(pipeline.schedule.span);
    return std::nullopt;
  }
  const ScheduleShape shape{.ranks = static_cast<int>(job.actor.pipeline.value),
                            .microbatches = static_cast<int>(pipeline.microbatches.value),
                            .chunks = static_cast<int>(pipeline.chunks.value)};
  if (const auto problem = check(*order, shape)) {
    findings.error(Rule::S2, 3, problem->message)
        .at(pipeline.schedule.span)
        .withHelp(problem->help);
    return std::nullopt;
  }
  return order->build(shape);
}

} // namespace vime
