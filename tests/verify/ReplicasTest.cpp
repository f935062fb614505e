// Replicas: plans whose gradients are not reduced once, by all, in one order, and the codes that
// say so.
//
// Each starts from a plan of the lowering: a pipeline of 2 ranks in 1024 replicas, of which rank 2
// and 3 stand for all but the leading one.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/StepHeader.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

constexpr std::uint32_t kReplicas = 1024;

Plan replicated(std::uint32_t chunks = 1) {
  return lowered({.schedule = chunks == 1 ? "1f1b" : "interleaved",
                  .microbatches = 4,
                  .chunks = chunks,
                  .replicas = kReplicas});
}

std::string judgedAfter(const std::function<void(Plan &)> &change, std::uint32_t chunks = 1) {
  Plan plan = unshared(replicated(chunks));
  change(plan);
  return codesOf(plan);
}

Action &actionOf(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOf(plan, rank, description)];
}

void remove(Plan &plan, std::uint32_t rank, std::string_view description) {
  Program &program = plan.programs[rank];
  const std::uint32_t index = indexOf(plan, rank, description);
  program.actions.erase(program.actions.begin() + index);
  for (Loop &loop : program.loops)
    loop.end -= index < loop.end;
}

/// The same again, in the tick behind it.
void repeat(Plan &plan, std::uint32_t rank, std::string_view description) {
  Program &program = plan.programs[rank];
  const std::uint32_t index = indexOf(plan, rank, description);
  Action again = program.actions[index];
  ++again.time;
  program.actions.insert(program.actions.begin() + index + 1, again);
  for (Loop &loop : program.loops)
    loop.end += index < loop.end;
}

/// Doubles the clock, so that there is room between any two ticks.
void spread(Plan &plan) {
  for (Program &program : plan.programs) {
    for (Action &action : program.actions)
      action.time *= 2;
    for (Loop &loop : program.loops) {
      loop.start *= 2;
      loop.period *= 2;
    }
  }
}

void swap(Plan &plan, std::uint32_t rank, std::string_view one, std::string_view other) {
  Action &first = actionOf(plan, rank, one), &second = actionOf(plan, rank, other);
  std::swap(first, second);
  std::swap(first.time, second.time);
}

std::string reduction(std::uint32_t) { return "all_reduce `gradients`"; }

bool contains(const std::string &codes, const std::string &code) {
  return codes.find(code) != std::string::npos;
}

TEST(Replicas, AreProved) {
  EXPECT_EQ(judged(replicated()), "");
  EXPECT_EQ(judged(unshared(replicated())), "");
  EXPECT_EQ(judged(unshared(replicated(2))), "");
}

TEST(Replicas, NoReduction) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              for (std::uint32_t rank = 0; rank < 4; ++rank)
                remove(plan, rank, reduction(rank));
            }),
            "S0414");
}

// As many squares as there are ranks in a replica, and all of them of one stage.
TEST(Replicas, SquaresOfOneStageAreNotThoseOfAll) {
  Plan plan = unshared(lowered({.schedule = "1f1b", .microbatches = 4, .replicas = 2}));
  for (Group &group : plan.groups)
    if (group.name == "norm")
      group.axes = bitOf(Axis::Data);
  EXPECT_NE(codesOf(plan).find("S0407"), std::string::npos) << codesOf(plan);
}

TEST(Replicas, ReducedTwice) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              spread(plan);
              for (std::uint32_t rank : {1u, 3u})
                repeat(plan, rank, reduction(rank));
            }),
            "S0414");
}

TEST(Replicas, ReducedBeforeTheLastWeightGradient) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank : {0u, 2u})
      swap(plan, rank, reduction(rank), "backward, stage 0, microbatch 3");
  });
  EXPECT_TRUE(contains(codes, "S0415")) << codes;
}

TEST(Replicas, ReducedAfterScaling) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank : {1u, 3u})
      swap(plan, rank, reduction(rank), "scale_gradients, stage 1");
  });
  EXPECT_TRUE(contains(codes, "S0414")) << codes;
}

TEST(Replicas, SomethingElseIsReduced) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank : {1u, 3u}) {
      Program &program = plan.programs[rank];
      program.operands[actionOf(plan, rank, reduction(rank)).operands] =
          program.operands[actionOf(plan, rank, "optimize, stage 1").operands + 3]; // the weights
    }
  });
  EXPECT_TRUE(contains(codes, "S0414")) << codes;
}

TEST(Replicas, OneMemberIsMissing) {
  const std::string codes = judgedAfter([](Plan &plan) { remove(plan, 2, reduction(2)); });
  EXPECT_TRUE(contains(codes, "C0303")) << codes;
  EXPECT_TRUE(contains(codes, "S0414")) << codes;
}

TEST(Replicas, OneMemberHasNoPartInIt) {
  const std::string codes = judgedAfter([](Plan &plan) {
    Program &program = plan.programs[3];
    program.lanes[actionOf(plan, 3, reduction(3)).lane].kind = LaneKind::CopyIn;
    remove(plan, 3, reduction(3));
  });
  EXPECT_TRUE(contains(codes, "C0301")) << codes;
}

TEST(Replicas, StagesInAnotherOrderOnOneMember) {
  const std::string codes = judgedAfter(
      [](Plan &plan) {
        Program &program = plan.programs[2];
        const std::uint32_t first = indexOf(plan, 2, reduction(2));
        Action &one = program.actions[first], &other = program.actions[first + 1];
        ASSERT_EQ(other.opcode, code(Opcode::AllReduce));
        std::swap(one, other);
        std::swap(one.time, other.time);
      },
      /*chunks=*/2);
  EXPECT_TRUE(contains(codes, "C0307")) << codes;
}

TEST(Replicas, GroupsInAnotherOrderOnOneMember) {
  const std::string codes =
      judgedAfter([](Plan &plan) { swap(plan, 2, reduction(2), "all_gather `norm`"); });
  EXPECT_TRUE(contains(codes, "C0206")) << codes;
}

// The first rank of another replica passes the header on before the coordinator has told it whether
// the run goes on.
TEST(Replicas, RanksAreToldTooEarly) {
  Plan plan =
      unshared(lowered({.schedule = "1f1b", .microbatches = 4, .evaluates = 2, .replicas = 2}));
  std::vector<Action> &actions = plan.programs[2].actions;
  const auto isOf = [&](const Action &action, std::string_view group) {
    return action.opcode == code(Opcode::Broadcast) &&
           plan.groups[plan.programs[2].lanes[action.lane].group].name == group;
  };
  std::size_t told = 0;
  for (std::size_t index = 0; index < actions.size(); ++index)
    if (isOf(actions[index], "decision"))
      told = index; // the last one: behind the evaluation
  ASSERT_TRUE(isOf(actions[told + 1], "step"));
  std::swap(actions[told], actions[told + 1]);
  std::swap(actions[told].time, actions[told + 1].time);
  EXPECT_NE(codesOf(plan).find("D0102"), std::string::npos) << codesOf(plan);
}

TEST(Replicas, ASumThatNobodyWaitsFor) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              actionOf(plan, 2, reduction(2)).flags &= static_cast<std::uint8_t>(~kHostBlocking);
            }),
            "C0309");
}

TEST(Replicas, CountersOfTwoReplicasAreNotThoseOfAll) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              for (Buffer &buffer : plan.layouts[0].buffers)
                if (buffer.kind == BufferKind::AllStats)
                  buffer.bytes = 2 * plan.mesh.pipeline * sizeof(RankStats);
            }),
            "C0305");
}

/// A sum goes from replica to replica, also between those that the plan holds only one of.
TEST(Replicas, OtherReplicasAreConnected) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              for (ConnectRound &round : plan.connect)
                std::erase_if(round.pairs, [&](const std::array<std::uint32_t, 2> &pair) {
                  return !round.inEveryReplica && pair == std::array{200u, 202u};
                });
            }),
            "C0401");
}

TEST(Replicas, OneLoadsNoSamples) {
  const std::string codes = judgedAfter([](Plan &plan) { remove(plan, 2, "load"); });
  EXPECT_TRUE(contains(codes, "S0106")) << codes;
}

TEST(Replicas, AnotherOneDecides) {
  const std::string codes = judgedAfter([](Plan &plan) {
    Action &load = actionOf(plan, 2, "load");
    load.opcode = code(Opcode::Decide);
    load.operandCount = 1;
  });
  EXPECT_TRUE(contains(codes, "S0106")) << codes;
}

TEST(Replicas, AStageIsMissingInAll) {
  const std::string codes = judgedAfter([](Plan &plan) { plan.programs[3].stages[0].stage = 0; });
  EXPECT_TRUE(contains(codes, "S0320")) << codes;
  EXPECT_TRUE(contains(codes, "S0321")) << codes;
}

TEST(Replicas, GroupsThatCannotBeJudged) {
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.groups[4].root = 1; }), "S0305");
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.groups[4].axes = 3; }), "S0305");
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.groups[5].axes = 1; }), "S0305");
}

TEST(Replicas, AreReadBack) {
  for (const std::uint32_t group : {4u, 5u})
    EXPECT_FALSE(checkPlan([&] {
                   Plan plan = replicated();
                   plan.groups[group].axes = 3;
                   return plan;
                 }())
                     .ok());
}

/// Replicas of one rank: what one of them has loaded is sent to the others instead of to itself.
TEST(ReplicaHeaders, AreOfTheirOwnReplica) {
  Plan plan =
      lowered({.ranks = 1, .microbatches = 2, .layers = 2, .family = {1, 2}, .replicas = 2});
  ASSERT_EQ(judged(plan), "");
  for (Group &group : plan.groups)
    if (group.name == "step")
      group.axes = bitOf(Axis::Data);
  EXPECT_NE(judged(plan).find("holds the header of load of another replica"), std::string::npos)
      << judged(plan);
}

/// A rank that gathers from itself alone leaves the places of the others as they were.
TEST(ReplicaGroups, GatherFromAllMembers) {
  Plan plan = lowered({.microbatches = 2, .layers = 2});
  for (Group &group : plan.groups)
    if (group.name == "norm")
      group.axes = bitOf(Axis::Data);
  EXPECT_NE(judged(plan).find("error[S0205]: all_gather `norm` fills only"), std::string::npos)
      << judged(plan);
}

/// What an evaluation has changed reaches the ranks of the coordinator's replica only.
TEST(ReplicaHeaders, AreSentAgainToAllReplicas) {
  Plan plan = lowered({.ranks = 1, .microbatches = 2, .layers = 2, .evaluates = 2, .replicas = 2});
  ASSERT_EQ(judged(plan), "");
  for (Program &program : plan.programs) {
    std::uint32_t last = 0;
    for (std::uint32_t index = 0; index < program.actions.size(); ++index)
      if (program.actions[index].opcode == code(Opcode::Broadcast) &&
          plan.groups[program.lanes[program.actions[index].lane].group].name == "decision")
        last = index;
    program.actions.erase(program.actions.begin() + last);
    for (Loop &loop : program.loops)
      loop.end -= last < loop.end;
    for (Case &one : program.cases)
      one.end -= last < one.end;
  }
  EXPECT_NE(judged(plan).find("in a header that was changed and not sent again"), std::string::npos)
      << judged(plan);
}

} // namespace
} // namespace vime
