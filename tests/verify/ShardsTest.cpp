// Shards: plans whose replicas share the model, and do not have it whole when a task needs it, or
// not all of one version, or sum its gradients up otherwise than once.
//
// Each starts from a plan of the lowering: a pipeline of 2 ranks in 4 replicas, of which rank 2 and
// 3 stand for all but the leading one.
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

const std::string kUnshard = "unshard `weights`", kReduction = "reduce_scatter `gradients`",
                  kSquares = "reduce_squares `share squares`";

Plan sharded(JobShape shape = {}) {
  shape.microbatches = 4;
  shape.layers = 4;
  shape.replicas = 4;
  shape.sharded = true;
  return lowered(shape);
}

std::string judgedAfter(const std::function<void(Plan &)> &change, const JobShape &shape = {}) {
  Plan plan = unshared(sharded(shape));
  change(plan);
  return codesOf(plan);
}

void remove(Plan &plan, std::uint32_t rank, std::string_view description) {
  Program &program = plan.programs[rank];
  const std::uint32_t index = indexOf(plan, rank, description);
  program.actions.erase(program.actions.begin() + index);
  for (Loop &loop : program.loops) {
    loop.begin -= index < loop.begin;
    loop.end -= index < loop.end;
  }
}

/// The places in the program, not the times.
void swap(Plan &plan, std::uint32_t rank, std::string_view one, std::string_view other) {
  std::vector<Action> &actions = plan.programs[rank].actions;
  Action &first = actions[indexOf(plan, rank, one)], &second = actions[indexOf(plan, rank, other)];
  std::swap(first, second);
  std::swap(first.time, second.time);
}

using Edge = std::array<std::uint32_t, 2>;
/// The pairs of replicas that meet, each stated, but for one.
void spellOut(Plan &plan, const Edge &but) {
  std::vector<ConnectRound> rounds;
  for (const ConnectRound &round : plan.connect)
    for (std::uint32_t turn = 0; turn < turnsOf(plan.mesh, round); ++turn) {
      ConnectRound stated = round;
      for (std::uint32_t rank = 0; round.allReplicas && rank < plan.mesh.ranks(); ++rank)
        if (const auto peer = peerIn(plan.mesh, round, turn, rank);
            peer > rank && Edge{rank, *peer} != but)
          stated.pairs.push_back({rank, *peer});
      stated.allReplicas = false;
      rounds.push_back(stated);
    }
  plan.connect = rounds;
}

bool contains(const std::string &codes, const std::string &code) {
  return codes.find(code) != std::string::npos;
}

TEST(Shards, AreProved) {
  EXPECT_EQ(judged(sharded()), "");
  EXPECT_EQ(judged(unshared(sharded({.schedule = "interleaved", .chunks = 2}))), "");
  EXPECT_EQ(judged(sharded({.schedule = "zb-v", .chunks = 2, .exportTo = "out"})), "");
  EXPECT_EQ(judged(sharded({.exportTo = "out", .evaluates = 2})), "");
}

TEST(Shards, FoldedPassesAreProved) {
  Plan plan = lowered({.microbatches = 64, .layers = 2, .replicas = 2, .sharded = true});
  EXPECT_TRUE(std::any_of(plan.programs[0].loops.begin(), plan.programs[0].loops.end(),
                          [](const Loop &loop) { return loop.id != 0; }));
  EXPECT_EQ(judged(plan), "");
}

/// Fewer whole stages than a rank has: their weights lie on the same bytes in turn.
TEST(Shards, WindowsAreProved) {
  for (const bool asTorch : {false, true})
    for (const std::uint32_t window : {1u, 2u, 3u}) {
      const Plan plan = lowered({.schedule = "interleaved",
                                 .microbatches = 4,
                                 .chunks = 4,
                                 .layers = 8,
                                 .exportTo = "out",
                                 .evaluates = 2,
                                 .replicas = 2,
                                 .sharded = true,
                                 .unsharded = window,
                                 .asTorch = asTorch});
      EXPECT_EQ(judged(plan), "") << window;
      std::vector<std::uint64_t> places;
      for (const Buffer &buffer : plan.layouts[0].buffers)
        if (buffer.kind == BufferKind::Weights)
          places.push_back(buffer.offset);
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      EXPECT_EQ(places.size(), window);
    }
}

/// A stage comes while another one, which lies on the same bytes, is still needed.
TEST(Shards, AStageOverAnotherOne) {
  Plan plan = unshared(lowered({.schedule = "interleaved",
                                .microbatches = 4,
                                .chunks = 2,
                                .layers = 4,
                                .replicas = 2,
                                .sharded = true,
                                .unsharded = 1}));
  ASSERT_EQ(judged(plan), "");
  for (const std::uint32_t rank : {0u, 2u})
    for (Action &action : plan.programs[rank].actions)
      if (action.opcode == code(Opcode::Unshard))
        action.waits = {};
  EXPECT_TRUE(contains(codesOf(plan), "M0201")) << codesOf(plan);
}

/// What a plan says of one stage does not grow with the replicas.
TEST(Shards, ProgramsDoNotGrowWithTheReplicas) {
  const auto withReplicas = [](std::uint32_t replicas) {
    return lowered({.microbatches = 4, .layers = 4, .replicas = replicas, .sharded = true});
  };
  const Plan two = withReplicas(2), many = withReplicas(64);
  EXPECT_EQ(two.programs, many.programs);
  EXPECT_EQ(judged(many), "");
}

TEST(Shards, ATaskWithoutWholeWeights) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              for (const std::uint32_t rank : {0u, 2u})
                remove(plan, rank, kUnshard);
            }),
            "S0201");
}

TEST(Shards, ATaskBehindReshard) {
  EXPECT_TRUE(contains(judgedAfter([](Plan &plan) {
                         for (const std::uint32_t rank : {0u, 2u})
                           swap(plan, rank, "reshard, stage 0", "backward, stage 0, microbatch 3");
                       }),
                       "S0202"));
}

/// Whole weights are there all the time, and never brought up to date.
TEST(Shards, WholeWeightsOfAnOlderVersion) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      remove(plan, rank, "reshard, stage " + std::to_string(rank % 2));
      std::vector<Action> &actions = plan.programs[rank].actions;
      const std::uint32_t index = indexOf(plan, rank, kUnshard);
      Loop &loop = plan.programs[rank].loops[0];
      Action unshard = actions[index];
      unshard.time = 50; // in front of the first step
      loop.start += 100;
      actions.erase(actions.begin() + index);
      actions.insert(actions.begin() + loop.begin, unshard);
      ++loop.begin;
    }
  });
  EXPECT_TRUE(contains(codes, "S0203")) << codes;
}

TEST(Shards, SharesOfTwoVersions) {
  const std::string codes = judgedAfter(
      [](Plan &plan) {
        // The export of the leading replica: rank 2 gives what is there before the last update.
        Program &program = plan.programs[2];
        const std::uint32_t share =
            program.operands[program.actions[indexOf(plan, 2, kUnshard)].operands];
        Layout &layout = plan.layouts[2];
        Buffer other = layout.buffers[share];
        other.offset = layout.arena[0];
        layout.arena[0] += (other.bytes + 63) / 64 * 64;
        layout.buffers.push_back(other);
        const auto copy = static_cast<std::uint32_t>(layout.buffers.size() - 1);
        for (Action &action : program.actions)
          if (action.opcode == code(Opcode::Optimize)) {
            program.operands.insert(
                program.operands.end(), program.operands.begin() + action.operands,
                program.operands.begin() + action.operands + action.operandCount);
            action.operands =
                static_cast<std::uint32_t>(program.operands.size() - action.operandCount);
            program.operands[action.operands + 3] = copy;
          }
      },
      {.exportTo = "out"});
  EXPECT_TRUE(contains(codes, "S0207")) << codes;
}

TEST(Shards, NoReduction) {
  EXPECT_EQ(judgedAfter([](Plan &plan) {
              for (std::uint32_t rank = 0; rank < 4; ++rank)
                remove(plan, rank, kReduction);
            }),
            "S0414");
}

TEST(Shards, ReducedBeforeTheLastWeightGradient) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (const std::uint32_t rank : {0u, 2u})
      swap(plan, rank, kReduction, "backward, stage 0, microbatch 3");
  });
  EXPECT_TRUE(contains(codes, "S0415")) << codes;
}

TEST(Shards, SquaresOfSharesAreNotAddedUp) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      remove(plan, rank, kSquares);
  });
  EXPECT_TRUE(contains(codes, "S0422")) << codes;
}

TEST(Shards, SquaresOfSharesAreAddedUpTooEarly) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (const std::uint32_t rank : {1u, 3u})
      swap(plan, rank, kSquares, "square_norm, stage 1");
  });
  EXPECT_TRUE(contains(codes, "S0422")) << codes;
}

TEST(Shards, ASumThatNobodyWaitsFor) {
  for (const std::string &sum : {kReduction, kSquares})
    EXPECT_EQ(judgedAfter([&](Plan &plan) {
                std::vector<Action> &actions = plan.programs[2].actions;
                actions[indexOf(plan, 2, sum)].flags &= static_cast<std::uint8_t>(~kHostBlocking);
              }),
              "C0309");
}

TEST(Shards, RoomForTooFewShares) {
  const std::string codes = judgedAfter([](Plan &plan) {
    for (Buffer &buffer : plan.layouts[2].buffers)
      if (buffer.kind == BufferKind::Weights)
        buffer.bytes -= 64;
  });
  EXPECT_TRUE(contains(codes, "C0305")) << codes;
}

TEST(Shards, OneMemberIsMissing) {
  const std::string codes = judgedAfter([](Plan &plan) { remove(plan, 2, kUnshard); });
  EXPECT_TRUE(contains(codes, "C0303")) << codes;
}

TEST(Shards, StagesInAnotherOrderOnOneMember) {
  const std::string codes = judgedAfter(
      [](Plan &plan) {
        std::vector<Action> &actions = plan.programs[2].actions;
        Action &one = actions[indexOf(plan, 2, kUnshard)], &other = (&one)[1];
        ASSERT_EQ(other.opcode, code(Opcode::Unshard));
        std::swap(one, other);
        std::swap(one.time, other.time);
      },
      {.schedule = "interleaved", .chunks = 2});
  EXPECT_TRUE(contains(codes, "C0307")) << codes;
}

/// Also those that are like the second one meet one another.
TEST(Shards, OtherReplicasAreConnected) {
  EXPECT_TRUE(sharded().connect.back().allReplicas);
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.connect.pop_back(); }), "C0401");
  EXPECT_EQ(judgedAfter([](Plan &plan) { spellOut(plan, /*but=*/{0, 0}); }), "");
  for (const Edge edge : {Edge{2, 4}, Edge{4, 6}, Edge{0, 6}})
    EXPECT_EQ(judgedAfter([&](Plan &plan) { spellOut(plan, edge); }), "C0401");
}

TEST(Shards, OtherReplicasAreConnectedOnce) {
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.connect.push_back(plan.connect.back()); }), "C0402");
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.connect.push_back({.pairs = {{1, 5}}}); }), "C0402");
}

TEST(Shards, WhatNobodyShares) {
  const auto unsharded = [](Plan &plan) { plan.models[0].sharded = false; };
  EXPECT_EQ(judgedAfter(unsharded), "S0305");
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.groups[7].axes = bitOf(Axis::Pipeline); }), "S0305");
  EXPECT_EQ(judgedAfter([](Plan &plan) { plan.models[0].config.tiedHead = true; }), "S0304");
  Plan plan = sharded();
  EXPECT_TRUE(checkPlan(plan).ok());
  unsharded(plan);
  EXPECT_FALSE(checkPlan(plan).ok());
}

} // namespace
} // namespace vime
