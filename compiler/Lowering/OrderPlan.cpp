#include "compiler/Lowering/OrderPlan.h"

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "schedules/Placement.h"

namespace vime {

namespace {

// Read as any job, so that it has whatever a job has; the order takes the place of another one.
std::optional<Job> nullJobOf(const Schedule &order, int microbatches, const std::string &name,
                             Findings &findings) {
  const std::size_t ranks = order.rows.size();
  const std::string text =
      "version: 1\ncluster: {ranks: " + std::to_string(ranks) +
      "}\nmodels: {nothing: {family: null, layers: " + std::to_string(ranks) +
      "}}\nroles: {actor: {model: nothing}}\npipeline: {schedule: gpipe, microbatches: " +
      std::to_string(microbatches / order.slices) +
      ", microbatch: 1 sample}\ndata: {text: nothing.txt, sequence: " +
      std::to_string(8 * order.slices) +
      " tokens}\n"
      "optimizer: {lr: 1.0e-3}\nrun: {steps: 1}\n";
  std::optional<Job> job = readJob(text, "order.yaml", findings);
  if (job) {
    job->pipeline.schedule.value = name;
    job->pipeline.slices.value = static_cast<std::uint32_t>(order.slices);
    job->models.front().config.layers = static_cast<std::uint32_t>(depthOf(order));
  }
  return job;
}

} // namespace

std::optional<plan::Plan> planOfOrder(const Schedule &order, int microbatches,
                                      const std::string &name, const TextFacts &text,
                                      Findings &findings) {
  if (!hasRoomForLanes(order, {name, 1, 1}, findings))
    return std::nullopt;
  std::optional<Job> job = nullJobOf(order, microbatches, name, findings);
  if (!job)
    return std::nullopt;
  std::optional<plan::Plan> plan = lowerWithSlots(*job, order, {stepMicrobatches(*job)}, findings);
  if (!plan)
    return std::nullopt;
  if (!planMemory(*plan, capsOf(*job), stepMicrobatches(*job))) {
    findings.error(Rule::M3, 7,
                   "an action of `" + name + "` has more to wait for than a plan can say");
    return std::nullopt;
  }
  finishPlan(*plan, *job, text, "order");
  return plan;
}

} // namespace vime
