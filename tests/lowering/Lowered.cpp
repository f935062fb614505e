#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/LowerCommunication.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Lowering/StepFamily.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

std::vector<Order> trainingOrders() {
  std::vector<Order> orders;
  for (const Order &order : allOrders())
    if (order.trains)
      orders.push_back(order);
  return orders;
}

namespace {

/// Samples of prompts instead of a text.
void giveRounds(Job &job, const JobShape &shape) {
  job.cluster.ranks.value += shape.engines;
  job.rolloutRole.model.value = "tiny";
  job.rolloutRole.ranks.value = shape.engines;
  if (shape.hasReference)
    job.reference.model.value = "tiny";
  job.batch.samplesPerPrompt.value = 2;
  job.batch.prompts.value = shape.microbatches * shape.replicas * shape.stepsOfRound;
  job.data.text.value = "";
  job.data.prompts.value = "prompts.jsonl";
  job.data.maxPrompt.value = 4;
  job.data.sequence.value = 8;
  job.pipeline.microbatch.value = {.count = 16, .inOther = true};
  job.rollout.maxNew.value = 4;
  job.rollout.temperature.value = job.rollout.topP.value = 1;
  job.rollout.slots.value = 4;
  job.rollout.stepTokens.value = 8;
  job.rollout.filter.value = "none";
  job.reward.rule.value = "exact-answer";
  job.reward.timeoutSeconds.value = 60;
  job.reward.workers.value = job.reward.minWorkers.value = 1;
  job.algorithm.advantage.value = shape.takesKlFromRewards ? "reinforce++" : "grpo";
  job.algorithm.klPlace.value = shape.takesKlFromRewards ? "reward" : "loss";
  job.algorithm.loss.value = "ppo-clip";
  job.algorithm.unit.value = "rollout";
  job.algorithm.clipLow.value = job.algorithm.clipHigh.value = 0.2;
  job.algorithm.klCoefficient.value = shape.hasReference ? 0.1 : 0;
  job.algorithm.klEstimator.value = "k3";
  job.algorithm.correction.value = "none";
  job.weightSync.bucket.value = 8192; // a stage takes several
  job.run.steps.value = 4 * shape.stepsOfRound;
  if (!shape.evaluatesPrompts)
    return;
  job.evaluation.prompts.value = "held-out.jsonl";
  job.evaluation.every.value = 2;
  job.evaluation.count.value = 2;
  job.evaluation.samples.value = 1;
  job.evaluation.topP.value = 1;
}

std::vector<std::uint32_t> familyOf(const Job &job, const JobShape &shape) {
  if (!shape.family.empty())
    return shape.family;
  return hasRounds(job) ? stepFamily(job, 0) : std::vector{stepMicrobatches(job)};
}

} // namespace

Job jobOf(const JobShape &shape) {
  Job job;
  job.name.value = "test";
  job.cluster.ranks.value = job.actor.ranks.value = shape.ranks * shape.replicas;
  job.actor.pipeline.value = shape.ranks;
  job.actor.data.value = shape.replicas;
  job.actor.shard.value = shape.sharded;
  job.memory.unsharded.value = shape.unsharded;
  job.memory.unshardRule.value = shape.asTorch ? "torch-compatible" : "fewest";
  job.cluster.device.value = "cpu";
  job.pipeline.schedule.value = shape.schedule;
  job.pipeline.microbatches.value = shape.microbatches;
  job.pipeline.chunks.value = shape.chunks;
  job.pipeline.mergeBackwards.value = shape.mergeBackwards;
  job.pipeline.receiveSlots.value = shape.slots;
  job.pipeline.slices.value = shape.slices;
  job.pipeline.microbatch.value = {.count = 2};
  job.batch.global.value = std::uint64_t{2} * shape.microbatches * shape.replicas;
  job.data.text.value = "corpus.txt";
  job.data.sequence.value = 8;
  job.data.split.value = "window";
  job.data.tail.value = shape.family.empty() ? "join" : "short";
  job.optimizer.decay.value = "constant";
  if (shape.evaluates != 0) {
    job.evaluation.text.value = "held-out.txt";
    job.evaluation.every.value = 2;
    job.evaluation.microbatches.value = shape.evaluates;
    job.evaluation.patience.value = 2;
  }
  job.optimizer.kind.value = "adamw";
  job.optimizer.learningRate.value = 1e-3;
  job.optimizer.commit.value = shape.runsEarly ? "post_validated" : "barrier";
  job.optimizer.clip.value = shape.runsEarly ? 1 : 0;
  job.limits.connectSeconds.value = 300;
  job.limits.transferSeconds.value = 600;
  job.run.steps.value = 5;
  job.run.exportTo.value = shape.exportTo;
  if (shape.saves != 0) {
    job.checkpoint.directory.value = "saved";
    job.checkpoint.every.value = shape.saves;
  }
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
  if (shape.engines != 0)
    giveRounds(job, shape);
  return job;
}

plan::Plan lowered(const JobShape &shape) {
  const Job job = jobOf(shape);
  Findings findings;
  const auto order = buildOrder(job, findings);
  EXPECT_TRUE(order) << shape.schedule;
  if (!order)
    return {};
  const auto plan = lowered(job, *order, familyOf(job, shape));
  EXPECT_TRUE(plan) << shape.schedule;
  return plan.value_or(plan::Plan());
}

std::optional<plan::Plan> lowered(const Job &job, const Schedule &order,
                                  const std::vector<std::uint32_t> &family) {
  Findings findings;
  auto plan = lowerCommunication(job, order, family, findings);
  if (!plan || !planMemory(*plan, capsOf(job), mostMicrobatches(job), receiveSlotsOf(job)))
    return std::nullopt;
  finishPlan(*plan, job, {.bytes = 1000, .hash = {1, 2}, .round = {{1000, {1, 2}}, {1000, {3, 4}}}},
             "test");
  return plan;
}

std::uint32_t indexOfAction(const plan::Plan &plan, std::uint32_t rank,
                            std::string_view description) {
  const plan::Program *program = plan::programOf(plan, rank);
  for (std::uint32_t action = 0; program && action < program->actions.size(); ++action)
    if (plan::describe(plan, rank, action) == description)
      return action;
  ADD_FAILURE() << "rank " << rank << " has no action `" << description << "`";
  return 0;
}

plan::Plan unshared(const plan::Plan &plan) {
  plan::Plan apart = plan;
  apart.programs.clear();
  apart.layouts.clear();
  for (std::uint32_t rank = 0; rank < plan::representatives(plan.mesh); ++rank) {
    apart.programs.push_back(*plan::programOf(plan, rank));
    apart.layouts.push_back(*plan::layoutOf(plan, rank));
    apart.programOf[rank] = apart.layoutOf[rank] = rank;
  }
  return apart;
}

} // namespace vime
