// Where the bytes of a rank go.
#include "compiler/View/Memory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/Verify/LiveSet.h"
#include "runtime/Plan/Allowance.h"
#include "runtime/Plan/Describe.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

verify::TierMemory deviceOf(const plan::Plan &plan, std::uint32_t rank) {
  const verify::ActionTable table(plan);
  return liveSetOf(table, table.ranks()[rank]).front();
}

const verify::MemoryPart &partOf(const verify::TierMemory &memory, const plan::Plan &plan,
                                 std::uint32_t rank, const std::string &name) {
  for (const verify::MemoryPart &part : memory.parts)
    if (plan::describeBuffer(plan, rank, part.buffer) == name)
      return part;
  ADD_FAILURE() << name;
  return memory.parts.front();
}

TEST(LiveSet, PartsAreAllOfTheArenaLargestFirst) {
  const plan::Plan plan = smallPlan();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const verify::TierMemory memory = deviceOf(plan, rank);
    EXPECT_EQ(memory.parts.size(), plan.layouts[rank].buffers.size());
    EXPECT_EQ(memory.arena, plan.layouts[rank].arena[0]);
    std::uint64_t alive = 0;
    for (std::size_t part = 0; part < memory.parts.size(); ++part) {
      alive += memory.parts[part].aliveBytes;
      EXPECT_TRUE(part == 0 || memory.parts[part - 1].bytes >= memory.parts[part].bytes);
    }
    EXPECT_EQ(alive, memory.peak);
    EXPECT_LE(memory.peak, memory.arena);
  }
}

/// Of the plan by hand, with stashes that are most of its memory.
plan::Plan planOfLargeStashes() {
  plan::Plan plan = smallPlan();
  for (plan::Layout &layout : plan.layouts)
    for (plan::Buffer &buffer : layout.buffers)
      if (buffer.kind == plan::BufferKind::Stash) {
        buffer.bytes = buffer.stride = 1024;
        buffer.offset = layout.arena[0];
        layout.arena[0] += buffer.extent();
      }
  return plan;
}

// 1F1B on two ranks: rank 0 runs both forwards before the first backward.
TEST(LiveSet, TwoStashesOnTheFirstRankAndOneOnTheLast) {
  const plan::Plan plan = planOfLargeStashes();
  EXPECT_EQ(partOf(deviceOf(plan, 0), plan, 0, "stash of stage 0").aliveSlots, 2u);
  EXPECT_EQ(partOf(deviceOf(plan, 1), plan, 1, "stash of stage 1").aliveSlots, 1u);
  EXPECT_EQ(partOf(deviceOf(plan, 0), plan, 0, "weights of stage 0").aliveSlots, 1u);
}

TEST(PlanMemory, Text) {
  const std::string text = planMemory(planOfLargeStashes());
  EXPECT_TRUE(text.starts_with("rank 0\n  device: 6.")) << text;
  EXPECT_NE(text.find("\n         bytes       alive    slots  part\n"), text.npos) << text;
  EXPECT_NE(text.find("\nrank 1\n  device: 4."), text.npos) << text;
  EXPECT_NE(text.find(" KiB, most alive at action 11: backward, stage 0, microbatch 0, "),
            text.npos)
      << text;
  EXPECT_NE(text.find("  weights of stage 1\n"), text.npos) << text;
}

TEST(PlanMemory, RanksThatShareAProgramAndALayoutHaveOneTable) {
  plan::Plan plan = smallPlan();
  plan.layoutOf[1] = plan.programOf[1] = 0; // no plan that could run
  EXPECT_TRUE(planMemory(plan).starts_with("rank 0 and 1 like it\n"));
}

TEST(PlanMemory, OfAStepInWhichEverythingRuns) {
  plan::Plan plan = smallPlan();
  const std::string usual = planMemory(plan);
  plan.decisions = {{plan::Decision::Evaluate, {0, 1}}};
  plan.conditions = {{plan::Decision::Evaluate, plan::Comparison::Equal, 1}};
  for (plan::Program &program : plan.programs)
    program.cases = {{program.loops[0].begin, program.loops[0].end, 1}};
  EXPECT_EQ(planMemory(plan), usual);
}

TEST(PlanMemory, SaysWhatIsAllowedBesideTheArenas) {
  const plan::Plan plan = smallPlan();
  const std::string text = planMemory(plan);
  EXPECT_NE(text.find("\n  beside its arenas: 1.02 MiB at most\n"), text.npos) << text;
  EXPECT_TRUE(text.ends_with("\nevery process, beside its ranks: 12.1 MiB at most\n")) << text;
  const auto json = nlohmann::json::parse(memoryJson(plan));
  EXPECT_EQ(json["process_allowance_bytes"], plan::processAllowance(plan));
  EXPECT_EQ(json["alike"][1]["allowance_bytes"], plan::rankAllowance(plan, 1));
}

TEST(PlanMemory, Json) {
  const auto json = nlohmann::json::parse(memoryJson(smallPlan()));
  EXPECT_EQ(json["alike"].size(), 2u);
  EXPECT_EQ(json["alike"][1]["ranks"], nlohmann::json::array({1}));
  const auto &tier = json["alike"][1]["tiers"][0];
  EXPECT_EQ(tier["tier"], "device");
  EXPECT_EQ(tier["arena_bytes"], smallPlan().layouts[1].arena[0]);
  EXPECT_EQ(tier["parts"][2]["name"], "input of stage 1");
  EXPECT_EQ(tier["parts"][2]["slots"], 2);
}

} // namespace
} // namespace vime
