// The words that messages use for actions, channels and buffers.
#include "runtime/Plan/Describe.h"

#include <gtest/gtest.h>

#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

std::string programText(const Plan &plan, std::uint32_t rank) {
  std::string text = "\n";
  for (std::uint32_t action = 0; action < programOf(plan, rank)->actions.size(); ++action)
    text += describe(plan, rank, action) + "\n";
  return text;
}

TEST(Describe, WholeProgramOfTheLastRank) {
  EXPECT_EQ(programText(smallPlan({.exportTo = "model"}), 1), R"(
initialize, stage 1
broadcast `step`
broadcast `segments`
receive data from rank 0, labels
receive forward from rank 0, stage 1, microbatch 0
forward, stage 1, microbatch 0
loss, stage 1, microbatch 0
receive forward from rank 0, stage 1, microbatch 1
backward, stage 1, microbatch 0
send backward to rank 0, stage 1, microbatch 0
forward, stage 1, microbatch 1
loss, stage 1, microbatch 1
backward, stage 1, microbatch 1
send backward to rank 0, stage 1, microbatch 1
scale_gradients, stage 1
square_norm, stage 1
all_gather `norm`
clip
optimize, stage 1
send metrics to rank 0, losses
measure
gather `stats`
export_shard, stage 1
gather `stats`
)");
}

TEST(Describe, LanesAndBuffers) {
  const Plan plan = smallPlan();
  EXPECT_EQ(describeLane(plan, 0, 0), "compute lane");
  EXPECT_EQ(describeLane(plan, 0, 1), "host lane");
  EXPECT_EQ(describeLane(plan, 0, 2), "channel `rank 0 → rank 1, forward`");
  EXPECT_EQ(describeLane(plan, 1, 4), "channel `rank 0 → rank 1, data`");
  EXPECT_EQ(describeLane(plan, 1, 5), "group `step`");
  EXPECT_EQ(describeBuffer(plan, 1, 0), "header");
  EXPECT_EQ(describeBuffer(plan, 1, 8), "weights of stage 1");
}

TEST(Describe, MastersLieWithTheMoments) {
  Plan plan = smallPlan();
  EXPECT_EQ(describeBuffer(plan, 1, 10), "moments of stage 1");
  plan.models[0].config.type = DataType::BFloat16;
  EXPECT_EQ(describeBuffer(plan, 1, 10), "masters and moments of stage 1");
}

TEST(Describe, ANumberForWhatCannotBeResolved) {
  Plan plan = smallPlan();
  EXPECT_EQ(describe(plan, 0, 1000), "action 1000");
  EXPECT_EQ(describe(plan, 9, 0), "initialize, stage 1"); // coordinate 9 mod 2
  EXPECT_EQ(describeLane(plan, 0, 77), "lane 77");
  EXPECT_EQ(describeBuffer(plan, 0, 99), "buffer 99");
  plan.programs[0].actions[0].opcode = 0x0999;
  plan.programs[0].actions[6].stage = 5;
  EXPECT_EQ(describe(plan, 0, 0), "unknown action 2457");
  EXPECT_EQ(describe(plan, 0, 6), "forward, local stage 5, microbatch 0");
  plan.layouts.clear();
  EXPECT_EQ(describe(plan, 0, 7), "send forward to rank 1, microbatch 0");
}

TEST(Peers, RelativeOnesWrapAndFixedOnesStand) {
  const Mesh mesh{.pipeline = 4};
  EXPECT_EQ(resolvePeer(mesh, 3, {true, Axis::Pipeline, 1}), 0u);
  EXPECT_EQ(resolvePeer(mesh, 0, {true, Axis::Pipeline, -1}), 3u);
  EXPECT_EQ(resolvePeer(mesh, 2, {false, Axis::Pipeline, 0}), 0u);
}

TEST(Peers, OtherCoordinatesStay) {
  const Mesh mesh{.pipeline = 4, .data = 3, .context = 2, .tensor = 2};
  // rank = ((data · 2 + c) · 2 + t) · 4 + pp
  const auto rank = [](std::uint32_t data, std::uint32_t c, std::uint32_t t, std::uint32_t pp) {
    return ((data * 2 + c) * 2 + t) * 4 + pp;
  };
  EXPECT_EQ(resolvePeer(mesh, rank(1, 1, 0, 3), {true, Axis::Pipeline, 1}), rank(1, 1, 0, 0));
  EXPECT_EQ(resolvePeer(mesh, rank(2, 1, 0, 3), {true, Axis::Data, 1}), rank(0, 1, 0, 3));
  EXPECT_EQ(resolvePeer(mesh, rank(1, 1, 0, 3), {false, Axis::Context, 0}), rank(1, 0, 0, 3));
  EXPECT_EQ(resolvePeer(mesh, rank(1, 1, 1, 3), {true, Axis::Tensor, -1}), rank(1, 1, 0, 3));
}

} // namespace
} // namespace vime
