// Slack is what it says: with it a step ends when it did, with a tick more it does not.
#include "compiler/Analysis/Slack.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Lowering/OrderPlan.h"
#include "runtime/Plan/Describe.h"
#include "schedules/Registry.h"

#include "tests/analysis/TickSimulator.h"
#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include <random>

namespace vime {
namespace {

/// Tasks of random lengths, transfers that take time and share no link.
Durations drawn(const plan::Plan &plan, std::mt19937 &random) {
  const auto upTo = [&](std::int64_t most) { return std::int64_t(random() % (most + 1)); };
  Durations durations = unitDurations(plan);
  for (OpcodeTimes &stage : durations.stages)
    for (const plan::Opcode opcode :
         {plan::Opcode::Forward, plan::Opcode::Backward, plan::Opcode::BackwardInput,
          plan::Opcode::BackwardWeight, plan::Opcode::Optimize})
      stage[opcode] = 1 + upTo(8);
  durations.ofRank[plan::Opcode::Load] = upTo(5);
  durations.boundaryLatency = upTo(3);
  durations.ranksPerNode = 2;
  return durations;
}

std::int64_t endOf(const std::vector<TickTimes> &ticks, const Simulated &run) {
  std::int64_t last = 0;
  for (const std::uint32_t entry : run.sequence)
    last = std::max(last, ticks[entry].end);
  return last;
}

TEST(Slack, ATickMoreMakesTheStepLonger) {
  std::mt19937 random(11);
  int some = 0, none = 0;
  for (const Order &order : allOrders())
    for (int draw = 0; draw < 2; ++draw) {
      const ScheduleShape shape{.ranks = 2 + int(random() % 2),
                                .microbatches = 2 + int(random() % 4),
                                .chunks = order.chunks.usual};
      if (check(order, shape))
        continue;
      Findings findings;
      const auto plan =
          planOfOrder(order.build(shape), shape.microbatches, "order.csv", {}, findings);
      if (!plan)
        continue;
      const verify::ActionTable table(*plan, steadyStepOf(*plan));
      const Durations durations = drawn(*plan, random);
      const Simulated run = simulate(table, durations, 1);
      ASSERT_FALSE(run.stuck) << *run.stuck;
      ASSERT_FALSE(run.sequence.empty()) << order.name;
      const std::vector<std::int64_t> slack = slackOf(table, durations, run);
      for (int probe = 0; probe < 12; ++probe) {
        const std::uint32_t entry = run.sequence[random() % run.sequence.size()];
        const auto delayed = [&](std::int64_t later) {
          return endOf(tickThrough(table, durations, 5000, {{entry, later}}), run);
        };
        ASSERT_GE(slack[entry], 0);
        EXPECT_EQ(delayed(slack[entry]), run.stepEnd) << order.name << " " << entry;
        EXPECT_EQ(delayed(slack[entry] + 1), run.stepEnd + 1)
            << order.name << " "
            << plan::describe(*plan, table.rankOf(entry).rank, table[entry].action);
        ++(slack[entry] > 0 ? some : none);
      }
    }
  EXPECT_GT(some, 100);
  EXPECT_GT(none, 20);
}

// Whatever the step is as long as it is for has none, on shared links too, and over many steps.
TEST(Slack, TheCriticalPathHasNone) {
  std::mt19937 random(13);
  int paths = 0;
  for (const Order &order : trainingOrders()) {
    const JobShape shape{.schedule = std::string(order.name),
                         .ranks = 4,
                         .microbatches = 8,
                         .chunks = static_cast<std::uint32_t>(order.chunks.usual)};
    if (check(order, {.ranks = 4, .microbatches = 8, .chunks = order.chunks.usual}))
      continue;
    const plan::Plan plan = lowered(shape);
    const verify::ActionTable table(plan, steadyStepOf(plan));
    Durations durations = drawn(plan, random);
    durations.near.perByte = 0.001 * double(random() % 8);
    const Simulated run = simulate(table, durations, 3);
    const std::vector<std::int64_t> slack = slackOf(table, durations, run);
    for (const PathPart &part : reportOf(table, run).path)
      EXPECT_EQ(slack[part.entry], 0) << order.name << " " << part.entry;
    // What the next step wants leaves less, never more.
    const Simulated alone = simulate(table, durations, 1);
    const std::vector<std::int64_t> ofOne = slackOf(table, durations, alone);
    for (const std::uint32_t entry : run.sequence)
      EXPECT_LE(slack[entry], ofOne[entry]) << order.name << " " << entry;
    ++paths;
  }
  EXPECT_GT(paths, 10);
}

} // namespace
} // namespace vime
