// What links carry, counted tick by tick.
#include "compiler/Analysis/LinkLoad.h"
#include "compiler/Lowering/OrderPlan.h"
#include "schedules/Registry.h"

#include "tests/analysis/TickSimulator.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace vime {
namespace {

TEST(LinkLoad, IsWhatTheTicksCount) {
  int busy = 0;
  for (const char *name : {"1f1b", "gpipe", "interleaved", "zb-v", "dualpipe"}) {
    const Order &order = *findOrder(name);
    const ScheduleShape shape{.ranks = 2, .microbatches = 6, .chunks = order.chunks.usual};
    Findings findings;
    auto plan = planOfOrder(order.build(shape), shape.microbatches, "order.csv", {}, findings);
    ASSERT_TRUE(plan) << name;
    for (plan::Group &group : plan->groups)
      group.message.fixed = 0; // collectives take no time, as in ticks
    const verify::ActionTable table(*plan, steadyStepOf(*plan));
    Durations durations = unitDurations(*plan);
    for (OpcodeTimes &stage : durations.stages)
      for (const plan::Opcode opcode : {plan::Opcode::Forward, plan::Opcode::Backward,
                                        plan::Opcode::BackwardInput, plan::Opcode::BackwardWeight})
        stage[opcode] = 3;
    durations.boundaryLatency = 2;
    durations.ranksPerNode = 2;
    durations.near.perByte = 2.0 / 8; // of the eight bytes that a token more takes
    const Simulated run = simulate(table, durations, 1);
    const std::vector<TickTimes> ticks = tickThrough(table, durations, 5000);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::int64_t>> under;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> messages;
    for (const verify::Channel &channel : table.channels()) {
      const verify::LaneView &lane = table.lanes()[channel.sendLanes.front()];
      const plan::Message &message = table.laneOf(lane).message;
      const auto carried = static_cast<std::int64_t>(
          durations.near.perByte * (message.fixed + double(message.perToken) * plan->data.tokens));
      const bool isBoundary =
          channel.flow == plan::Flow::Forward || channel.flow == plan::Flow::Backward;
      for (const std::uint32_t entry : table.dispatched(lane)) {
        ++messages[{channel.source, channel.destination}];
        for (std::int64_t tick = ticks[entry].end - carried - (isBoundary ? 2 : 0);
             tick < ticks[entry].end; ++tick)
          under[{channel.source, channel.destination}].insert(tick);
      }
    }
    const std::vector<LinkLoad> loads = linkLoadsOf(table, run);
    EXPECT_EQ(loads.size(), messages.size());
    for (const LinkLoad &load : loads) {
      const std::pair link(load.source, load.destination);
      EXPECT_EQ(load.busy, std::int64_t(under[link].size())) << name;
      EXPECT_EQ(load.messages, messages[link]) << name;
      EXPECT_GE(load.bytes, load.messages) << name;
      busy += load.busy > 0;
    }
  }
  EXPECT_GE(busy, 10);
}

} // namespace
} // namespace vime
