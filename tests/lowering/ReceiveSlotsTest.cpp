// How many slots channels get: two, more where transfers take time, fewer where memory is short.
#include "compiler/Lowering/ReceiveSlotsOfJob.h"

#include <gtest/gtest.h>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/BuildOrder.h"
#include "compiler/Lowering/FinishPlan.h"
#include "compiler/Lowering/PlanMemory.h"
#include "compiler/Verify/Verify.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

/// The plan as the phases make it, and the job with what they chose.
struct Chosen {
  Job job;
  plan::Plan plan;

  std::uint64_t arenaOf(std::uint32_t rank) const {
    const auto &arena = plan.layouts[plan.layoutOf[rank]].arena;
    return arena[0] + arena[1];
  }
  std::string problem() const {
    Findings findings;
    verifyPlan(plan, findings);
    return findings.any() ? findings.all().front().message : "";
  }
};

Chosen chosen(Job job) {
  Findings findings;
  const auto order = buildOrder(job, findings);
  auto plan = lowerWithSlots(job, *order, {job.pipeline.microbatches.value}, findings);
  EXPECT_TRUE(planMemory(*plan, capsOf(job), mostMicrobatches(job), receiveSlotsOf(job)));
  finishPlan(*plan, job, {.bytes = 100000, .hash = {1, 2}}, "test");
  return {std::move(job), std::move(*plan)};
}

Job jobWith(std::string schedule, std::vector<std::uint64_t> slots,
            std::vector<std::uint64_t> costs = {}, std::uint64_t limit = 0,
            std::uint32_t microbatches = 12) {
  Job job = jobOf({.schedule = std::move(schedule), .ranks = 4, .microbatches = microbatches});
  job.pipeline.receiveSlots.value = std::move(slots);
  job.pipeline.costs.value = std::move(costs);
  job.pipeline.memoryLimit.value = limit;
  return job;
}

using Slots = std::vector<std::uint64_t>;

TEST(ReceiveSlots, AreTwoIfNothingSpeaksAgainstIt) {
  const Chosen usual = chosen(jobWith("1f1b", {}));
  EXPECT_EQ(usual.job.pipeline.receiveSlots.value, Slots{2});
  EXPECT_EQ(usual.job.pipeline.receiveSlots.origin, OriginKind::Default);
  EXPECT_EQ(usual.problem(), "");
  const Chosen stated = chosen(jobWith("1f1b", {2}));
  EXPECT_EQ(usual.plan.programs, stated.plan.programs);
  EXPECT_EQ(usual.plan.layouts, stated.plan.layouts);
}

TEST(ReceiveSlots, AreMoreWhereTransfersTakeTime) {
  const Chosen more = chosen(jobWith("interleaved", {}, {10, 10, 10, 5}));
  ASSERT_EQ(more.job.pipeline.receiveSlots.value.size(), 1u);
  EXPECT_GE(more.job.pipeline.receiveSlots.value.front(), 3u);
  EXPECT_EQ(more.job.pipeline.receiveSlots.origin, OriginKind::Derived);
  EXPECT_EQ(more.job.pipeline.receiveSlots.from, "pipeline.costs");
  EXPECT_EQ(more.problem(), "");
  // What the plan predicts is at unit costs, with free transfers, whatever its receives are ready
  // for.
  const Chosen usual = chosen(jobWith("interleaved", {}));
  EXPECT_EQ(more.plan.predictions, usual.plan.predictions);
  EXPECT_NE(more.plan.programs, usual.plan.programs);
}

TEST(ReceiveSlots, AreFewerOnRanksWithoutMemory) {
  const Chosen usual = chosen(jobWith("1f1b", {})), one = chosen(jobWith("1f1b", {1}));
  std::uint32_t largest = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_LT(one.arenaOf(rank), usual.arenaOf(rank));
    if (usual.arenaOf(rank) > usual.arenaOf(largest))
      largest = rank;
  }
  const Chosen fitted = chosen(jobWith("1f1b", {}, {}, usual.arenaOf(largest) - 1));
  Slots expected(4, 2);
  expected[largest] = 1;
  EXPECT_EQ(fitted.job.pipeline.receiveSlots.value, expected);
  EXPECT_EQ(fitted.job.pipeline.receiveSlots.from, "pipeline.memory_limit");
  EXPECT_EQ(fitted.problem(), "");
}

// Where what pays does not fit, as much of it as does.
TEST(ReceiveSlots, MemoryGoesBeforeTime) {
  const Chosen more = chosen(jobWith("interleaved", {}, {10, 10, 10, 5}));
  std::uint64_t most = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    most = std::max(most, more.arenaOf(rank));
  const Chosen fitted = chosen(jobWith("interleaved", {}, {10, 10, 10, 5}, most - 1));
  EXPECT_EQ(fitted.job.pipeline.receiveSlots.from, "pipeline.costs, pipeline.memory_limit");
  EXPECT_EQ(fitted.job.pipeline.receiveSlots.value.size(), 4u);
  EXPECT_EQ(fitted.problem(), "");
}

TEST(ReceiveSlots, AreLeftAsTheyAreStated) {
  const Chosen stated = chosen(jobWith("1f1b", {2, 1, 4, 3}, {10, 10, 10, 5}, 1));
  EXPECT_EQ(stated.job.pipeline.receiveSlots.value, (Slots{2, 1, 4, 3}));
}

// Not even one fits: the judge says what is alive.
TEST(ReceiveSlots, OneIsTheLeast) {
  const Chosen one = chosen(jobWith("1f1b", {1}));
  const Chosen refused = chosen(jobWith("1f1b", {}, {}, one.arenaOf(0) - 1));
  EXPECT_EQ(refused.job.pipeline.receiveSlots.value.front(), 1u);
  EXPECT_TRUE(refused.problem().starts_with("rank 0 needs ")) << refused.problem();
  Findings findings;
  verifyPlan(refused.plan, findings);
  EXPECT_FALSE(findings.all().front().notes.empty());
}

// Short passes are flat, long ones have loops.
TEST(ReceiveSlots, EveryOrderIsProvedWithAnyNumber) {
  for (const Order &order : trainingOrders())
    for (const std::uint32_t microbatches : {8u, 48u})
      for (const Slots &slots : {Slots{1}, Slots{3}, Slots{5}, Slots{1, 4, 2, 3}}) {
        Job job = jobWith(std::string(order.name), slots, {}, 0, microbatches);
        job.pipeline.chunks.value = static_cast<std::uint32_t>(order.chunks.usual);
        if (order.takes.slices || check(order, shapeFor(order, 4, static_cast<int>(microbatches))))
          continue;
        EXPECT_EQ(chosen(job).problem(), "")
            << order.name << " " << microbatches << " " << testing::PrintToString(slots);
      }
}

} // namespace
} // namespace vime
