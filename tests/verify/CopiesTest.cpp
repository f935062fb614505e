// Copies: plans with two copies of the model whose gradients are not added up once, in one order,
// by both holders, or whose microbatches go astray, and the codes that say so.
//
// Each starts from a plan of the lowering: `chimera` on 2 ranks, so that rank 0 holds stages 0 and
// 3, rank 1 stages 1 and 2, and stage 2 is a copy of stage 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

Plan copied(std::uint32_t replicas = 1) {
  return lowered({.schedule = "chimera",
                  .microbatches = 4,
                  .exportTo = "out",
                  .evaluates = 3,
                  .replicas = replicas});
}

std::string judgedAfter(const std::function<void(Plan &)> &change) {
  Plan plan = copied();
  change(plan);
  return codesOf(plan);
}

Action &actionOf(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOf(plan, rank, description)];
}

/// The calls of a group, in dispatch order.
std::vector<std::uint32_t> callsOf(const Plan &plan, std::uint32_t rank, std::string_view group) {
  std::vector<std::uint32_t> calls;
  const Program &program = plan.programs[rank];
  for (std::uint32_t index = 0; index < program.actions.size(); ++index) {
    const Lane &lane = program.lanes[program.actions[index].lane];
    if (lane.kind == LaneKind::Group && plan.groups[lane.group].name == group)
      calls.push_back(index);
  }
  return calls;
}

void remove(Plan &plan, std::uint32_t rank, std::uint32_t index) {
  Program &program = plan.programs[rank];
  program.actions.erase(program.actions.begin() + index);
  for (Loop &loop : program.loops)
    loop.end -= index < loop.end;
  for (Case &one : program.cases) {
    one.begin -= index < one.begin;
    one.end -= index < one.end;
  }
}

bool contains(const std::string &codes, const std::string &code) {
  return codes.find(code) != std::string::npos;
}

TEST(Copies, AreProved) {
  EXPECT_EQ(judged(copied()), "");
  EXPECT_EQ(judged(copied(/*replicas=*/3)), "");
}

// Each stage once, by both holders, in the order of the first copy's stages.
TEST(Copies, AreAddedUpStageByStage) {
  const Plan plan = copied();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    std::vector<std::uint32_t> stages;
    for (const std::uint32_t call : callsOf(plan, rank, "copies"))
      stages.push_back(plan.programs[rank].stages[plan.programs[rank].actions[call].stage].stage);
    EXPECT_EQ(stages,
              (rank == 0 ? std::vector<std::uint32_t>{0, 3} : std::vector<std::uint32_t>{2, 1}));
  }
}

TEST(Copies, OneIsNeverAdded) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      remove(plan, rank, callsOf(plan, rank, "copies").front());
  });
  EXPECT_TRUE(contains(codes, "S0414")) << codes;
}

TEST(Copies, OnlyOneHolderAdds) {
  const std::string codes =
      judgedAfter([](Plan &plan) { remove(plan, 1, callsOf(plan, 1, "copies").back()); });
  EXPECT_TRUE(contains(codes, "C0303")) << codes;
}

// Rank 1 adds its gradients of stage 1 to those of stage 0.
TEST(Copies, OfDifferentStagesAreNotAddedUp) {
  const std::string codes = judgedAfter([](Plan &plan) {
    const std::vector<std::uint32_t> calls = callsOf(plan, 1, "copies");
    Action &one = plan.programs[1].actions[calls[0]], &other = plan.programs[1].actions[calls[1]];
    std::swap(one.stage, other.stage);
    std::swap(one.operands, other.operands);
  });
  EXPECT_TRUE(contains(codes, "C0307")) << codes;
}

TEST(Copies, AreScaledBeforeTheyAreAddedUp) {
  const std::string codes = judgedAfter([](Plan &plan) {
    Action &scale = actionOf(plan, 0, "scale_gradients, stage 3");
    Action &add = plan.programs[0].actions[callsOf(plan, 0, "copies").back()];
    std::swap(scale, add);
    std::swap(scale.time, add.time);
  });
  EXPECT_TRUE(contains(codes, "S0414")) << codes;
}

// Microbatch 1 belongs to the second copy, stages 2 and 3.
TEST(Copies, AMicrobatchPassesThroughItsOwn) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (Program &program : plan.programs)
      for (Action &action : program.actions)
        if (findSignature(action.opcode)->perMicrobatch && action.microbatch < 2)
          action.microbatch = 1 - action.microbatch;
  });
  EXPECT_TRUE(contains(codes, "S0111")) << codes;
}

TEST(Copies, OnlyTheFirstIsExported) {
  const std::string codes = judgedAfter([](Plan &plan) {
    actionOf(plan, 0, "export_shard, stage 0").stage = 1; // stage 3
  });
  EXPECT_TRUE(contains(codes, "S0108")) << codes;
}

// The reader of plans knows what a copy is.
TEST(Copies, AreWholeAndAlike) {
  Plan plan = copied();
  EXPECT_TRUE(checkPlan(plan).ok());
  plan.models[0].stages[2].end -= 1;
  plan.models[0].stages[3].first -= 1;
  EXPECT_EQ(checkPlan(plan).message(), "stage 2 of model 0 does not continue the one before it");
  plan = copied();
  plan.models[0].stages.pop_back();
  EXPECT_EQ(checkPlan(plan).message(), "stage 2 of model 0 does not continue the one before it");
}

// Every other microbatch is a copy's: rings have an odd number of slots, and no more than needed.
TEST(Copies, RingsHoldWhatIsAlive) {
  const Plan plan = lowered({.schedule = "chimera", .ranks = 4, .microbatches = 16});
  for (const Buffer &buffer : plan.layouts[0].buffers)
    if (buffer.kind == BufferKind::Stash) {
      EXPECT_EQ(buffer.count, buffer.stage == 0 ? 3u : 1u);
    }
}

} // namespace
} // namespace vime
