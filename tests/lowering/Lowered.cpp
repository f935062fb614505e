#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"

namespace vime {

Job jobOf(const JobShape &shape) {
  Job job;
  job.name.value = "test";
  job.cluster.ranks.value = job.actor.ranks.value = shape.ranks * shape.replicas;
  job.actor.pipeline.value = shape.ranks;
  job.actor.data.value = shape.replicas;
  job.cluster.device.value = "cpu";
  job.pipeline.schedule.value = shape.schedule;
  job.pipeline.microbatches.value = shape.microbatches;
  job.pipeline.chunks.value = shape.chunks;
  job.pipeline.samples.value = 2;
  job.data.text.value = "corpus.txt";
  job.data.sequence.value = 8;
  job.optimizer.kind.value = "adamw";
  job.optimizer.learningRate.value = 1e-3;
  job.limits.transferSeconds.value = 600;
  job.run.steps.value = 5;
  job.run.exportTo.value = shape.exportTo;
  job.actor.model.value = "tiny";
  job.memory.recompute.value = shape.recomputesLayers ? "layer" : "none";
  Job::NamedModel model;
  model.name = "tiny";
  model.config = {.family = ModelFamily::Llama,
                  .layers = shape.layers,
                  .hidden = 16,
                  .heads = 2,
                  .kvHeads = 2,
                  .headWidth = 8,
                  .ffn = 24,
                  .vocab = 256,
                  .tiedHead = shape.tiedHead};
  job.models.push_back(model);
  return job;
}

plan::Plan lowered(const JobShape &shape) {
  const Job job = jobOf(shape);
  Findings findings;
  const auto order = buildOrder(job, findings);
  EXPECT_TRUE(order) << shape.schedule;
  if (!order)
    return {};
  auto plan = lowerCommunication(job, *order, findings);
  EXPECT_TRUE(plan) << shape.schedule;
  if (!plan)
    return {};
  EXPECT_TRUE(planMemory(*plan, capsOf(job), job.pipeline.microbatches.value));
  finishPlan(*plan, job, {.bytes = 1000, .hash = {1, 2}}, "test");
  return *plan;
}

} // namespace vime
