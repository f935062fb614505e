// What the simulator says of plans, against what is known of their orders.
#include "compiler/Analysis/Simulate.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Lowering/OrderPlan.h"
#include "schedules/Period.h"
#include "schedules/Registry.h"
#include "schedules/UnitTime.h"

#include "tests/analysis/TickSimulator.h"
#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include <random>

namespace vime {
namespace {

std::optional<plan::Plan> planOf(const Schedule &order, int microbatches) {
  Findings findings;
  return planOfOrder(order, microbatches, "order.csv", {}, findings);
}

// 1F1B with transfers of a tenth of a forward: 34.8 with two slots of each ring, where pure
// dataflow takes 34.6 (execution-model.md, Where transfers stand).
TEST(Simulate, TransfersHoldUpWhoWaitsForThem) {
  for (const auto &[ranks, microbatches, tenths] :
       {std::tuple{4, 8, 348}, std::tuple{8, 32, 1244}}) {
    const Schedule order =
        findOrder("1f1b")->build({.ranks = ranks, .microbatches = microbatches, .chunks = 1});
    const auto plan = planOf(order, microbatches);
    ASSERT_TRUE(plan);
    const verify::ActionTable table(*plan, steadyStepOf(*plan));
    const Simulated run = simulate(table, unitDurations(*plan, {10, 10, 10, 1}));
    EXPECT_EQ(double(run.period) / kUnit, tenths);
  }
}

TEST(Simulate, AStepInUnitTimeIsAsLongAsItsOrder) {
  int simulated = 0;
  for (const Order &order : allOrders()) {
    for (const int microbatches : {8, 13, 32}) {
      const ScheduleShape shape{
          .ranks = 4, .microbatches = microbatches, .chunks = order.chunks.usual};
      if (check(order, shape))
        continue;
      const Schedule schedule = order.build(shape);
      const auto plan = planOf(schedule, microbatches);
      if (!plan)
        continue;
      const verify::ActionTable table(*plan, steadyStepOf(*plan));
      const Simulated run = simulate(table, unitDurations(*plan));
      ++simulated;
      ASSERT_FALSE(run.stuck) << *run.stuck;
      const UnitTimes units = simulate(schedule);
      EXPECT_EQ(double(run.period) / kUnit, units.makespan) << order.name << " " << microbatches;
      const StepReport report = reportOf(table, run);
      EXPECT_NEAR(report.bubble, units.bubble, 1e-9) << order.name;
      EXPECT_EQ(report.path.back().to - report.path.front().from, run.period) << order.name;
    }
  }
  EXPECT_GT(simulated, 50);
}

// A step that evaluates or saves is longer, but most steps do neither.
TEST(Simulate, MostStepsNeitherEvaluateNorSave) {
  const auto periodOf = [](const JobShape &shape) {
    const plan::Plan plan = lowered(shape);
    const verify::ActionTable table(plan, steadyStepOf(plan));
    return simulate(table, unitDurations(plan)).period / kUnit;
  };
  const JobShape shape{.ranks = 4, .microbatches = 8};
  JobShape evaluates = shape, saves = shape;
  evaluates.evaluates = 4;
  saves.saves = 2;
  EXPECT_EQ(periodOf(shape), 33);
  EXPECT_EQ(periodOf(evaluates), 33);
  EXPECT_EQ(periodOf(saves), 33);
}

// What an early commit is for: steps follow each other as closely as their order lets them, and no
// closer. The optimizer itself takes no time here.
TEST(Simulate, StepsThatCommitEarlyFollowEachOtherAsTheirOrderLetsThem) {
  int shorter = 0;
  for (const Order &order : trainingOrders())
    for (const auto &[ranks, microbatches] : {std::pair{2, 4}, std::pair{4, 8}, std::pair{4, 12}}) {
      const ScheduleShape shape{
          .ranks = ranks, .microbatches = microbatches, .chunks = order.chunks.usual};
      if (check(order, shape))
        continue;
      JobShape job{.schedule = std::string(order.name),
                   .ranks = static_cast<std::uint32_t>(ranks),
                   .microbatches = static_cast<std::uint32_t>(microbatches),
                   .chunks = static_cast<std::uint32_t>(order.chunks.usual)};
      double periods[2];
      for (const bool runsEarly : {false, true}) {
        job.runsEarly = runsEarly;
        Job stated = jobOf(job);
        stated.run.steps.value = 16;
        Findings findings;
        const auto plan = lowered(stated, order.build(shape), {job.microbatches});
        ASSERT_TRUE(plan) << order.name;
        const verify::ActionTable table(*plan, steadyStepOf(*plan));
        const Simulated run = simulate(table, unitDurations(*plan), 12);
        ASSERT_FALSE(run.stuck) << *run.stuck;
        periods[runsEarly] = double(run.period) / kUnit;
      }
      const Periods known = periodsOf(order.build(shape), UnitCosts{});
      const std::string which = std::string(order.name) + " on " + std::to_string(ranks);
      EXPECT_EQ(periods[0], known.barrier) << which;
      EXPECT_NEAR(periods[1], known.postValidated, 1e-9) << which << ", early";
      shorter += periods[1] < periods[0];
    }
  EXPECT_GT(shorter, 3);
}

// Tasks of unequal stages, slow links, any order: the same times as by looking at every tick.
TEST(Simulate, EveryActionIsWhenTheTicksSayItIs) {
  std::mt19937 random(3);
  const auto upTo = [&](std::int64_t most) { return std::int64_t(random() % (most + 1)); };
  int compared = 0;
  for (const Order &order : allOrders())
    for (int draw = 0; draw < 3; ++draw) {
      const ScheduleShape shape{.ranks = 2 + int(upTo(2)),
                                .microbatches = 2 + int(upTo(6)),
                                .chunks = order.chunks.usual};
      if (check(order, shape))
        continue;
      auto plan = planOf(order.build(shape), shape.microbatches);
      if (!plan)
        continue;
      for (plan::Group &group : plan->groups)
        group.message.fixed = 0; // collectives take no time
      for (plan::Layout &layout : plan->layouts)
        for (plan::Buffer &buffer : layout.buffers)
          if (buffer.kind == plan::BufferKind::Gradients)
            buffer.bytes = 0;
      const verify::ActionTable table(*plan, steadyStepOf(*plan));
      Durations durations = unitDurations(*plan);
      for (OpcodeTimes &stage : durations.stages)
        for (const plan::Opcode opcode :
             {plan::Opcode::Forward, plan::Opcode::Backward, plan::Opcode::BackwardInput,
              plan::Opcode::BackwardWeight, plan::Opcode::Optimize})
          stage[opcode] = 1 + upTo(8);
      durations.ofRank[plan::Opcode::Load] = upTo(5);
      durations.boundaryLatency = upTo(3);
      durations.ranksPerNode = 2;
      // A boundary of eight tokens takes some ticks, more of them between nodes.
      durations.near.perByte = double(upTo(3)) / 8;
      durations.far = {.latency = 0, .perByte = durations.near.perByte + double(upTo(2)) / 8};
      const Simulated run = simulate(table, durations, 1);
      ASSERT_FALSE(run.stuck) << *run.stuck;
      const std::vector<TickTimes> ticks = tickThrough(table, durations, 5000);
      for (std::uint32_t entry = 0; entry < table.size(); ++entry) {
        ASSERT_EQ(run.times[entry].posted, ticks[entry].posted) << order.name << " " << entry;
        ASSERT_EQ(run.times[entry].end, ticks[entry].end) << order.name << " " << entry;
      }
      ++compared;
    }
  EXPECT_GT(compared, 20);
}

TEST(Simulate, RanksThatShareACoreShareItsSpeed) {
  const Schedule order = findOrder("gpipe")->build({.ranks = 2, .microbatches = 4, .chunks = 1});
  const auto plan = planOf(order, 4);
  ASSERT_TRUE(plan);
  const verify::ActionTable table(*plan, steadyStepOf(*plan));
  Durations durations = unitDurations(*plan);
  durations.ranksPerNode = 2;
  durations.coresPerNode = 1;
  const Simulated run = simulate(table, durations, 1);
  ASSERT_FALSE(run.stuck) << *run.stuck;
  EXPECT_EQ(run.period, 2 * 4 * 3 * kUnit); // all work, one after the other: nothing idles
}

} // namespace
} // namespace vime
