#include "compiler/Lowering/OrderPlan.h"

#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"

namespace vime {

Job nullJobOf(const Schedule &order, int microbatches, const std::string &name) {
  Job job;
  job.name.value = "order";
  job.cluster.ranks.value = job.actor.ranks.value = job.actor.pipeline.value =
      static_cast<std::uint32_t>(order.rows.size());
  job.cluster.device.value = "cpu";
  job.models = {{.name = "nothing",
                 .config = {.family = ModelFamily::Null,
                            .layers = static_cast<std::uint32_t>(order.placement.size())}}};
  job.actor.data.value = 1;
  job.actor.model.value = "nothing";
  job.pipeline.schedule.value = name;
  job.pipeline.chunks.value = 1;
  job.pipeline.microbatches.value = static_cast<std::uint32_t>(microbatches);
  job.pipeline.samples.value = 1;
  job.data.text.value = "nothing.txt";
  job.data.sequence.value = 8;
  job.optimizer.kind.value = "adamw";
  job.optimizer.learningRate.value = 1e-3;
  job.optimizer.epsilon.value = 1e-8;
  job.run.steps.value = 1;
  job.limits.transferSeconds.value = 600;
  return job;
}

std::optional<plan::Plan> planOfOrder(const Schedule &order, int microbatches,
                                      const std::string &name, const TextFacts &text,
                                      Findings &findings) {
  if (!hasRoomForLanes(order, {name, 1, 1}, findings))
    return std::nullopt;
  const Job job = nullJobOf(order, microbatches, name);
  std::optional<plan::Plan> plan = lowerCommunication(job, order, findings);
  if (!plan)
    return std::nullopt;
  if (!planMemory(*plan, capsOf(job), job.pipeline.microbatches.value)) {
    findings.error(Rule::M3, 7,
                   "an action of `" + name + "` has more to wait for than a plan can say");
    return std::nullopt;
  }
  finishPlan(*plan, job, text, "order");
  return plan;
}

} // namespace vime
