// A head that is tied to the embedding: its gradient must be added to the embedding's, once and
// whole, and it must compute with the matrix that the last step left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/Describe.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;
using testing::HasSubstr;

Plan tied(std::uint32_t ranks) {
  return lowered({.ranks = ranks, .microbatches = 2, .layers = 2, .tiedHead = true});
}

Action &at(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOf(plan, rank, description)];
}

void drop(Plan &plan, std::uint32_t rank, std::string_view description) {
  Action &action = at(plan, rank, description);
  action.opcode = code(Opcode::Join);
  action.operandCount = 0;
  action.lane = 0;
}

/// Two actions of the compute lane change places; times stay where they are.
void swap(Plan &plan, std::uint32_t rank, std::string_view one, std::string_view other) {
  Action &first = at(plan, rank, one), &second = at(plan, rank, other);
  std::swap(first, second);
  std::swap(first.time, second.time);
}

TEST(Tied, KeepsEveryRuleOnOneRankAndOnTwo) {
  EXPECT_EQ(judged(tied(1)), "");
  EXPECT_EQ(judged(tied(2)), "");
}

TEST(Tied, TheHeadsGradientIsNeverAdded) {
  Plan plan = tied(1);
  drop(plan, 0, "add_tied, stage 0");
  const std::string text = judged(plan);
  EXPECT_THAT(text, HasSubstr("error[S0412]: scale_gradients, stage 0 scales the gradients before "
                              "those of the tied head are added"));
  EXPECT_THAT(text, HasSubstr("error[S0413]: backward, stage 0, microbatch 1 leaves a gradient of "
                              "the tied matrix that is never added to the embedding's"));
}

TEST(Tied, TheHeadsGradientIsAddedAfterScaling) {
  Plan plan = tied(1);
  swap(plan, 0, "add_tied, stage 0", "scale_gradients, stage 0");
  EXPECT_THAT(codesOf(plan), HasSubstr("S0412"));
}

TEST(Tied, AWeightGradientComesBehindTheSum) {
  Plan plan = tied(1);
  swap(plan, 0, "add_tied, stage 0", "backward, stage 0, microbatch 1");
  EXPECT_THAT(codesOf(plan), HasSubstr("S0412"));
}

TEST(Tied, TheHeadsGradientLeavesBeforeItIsComplete) {
  Plan plan = tied(2);
  swap(plan, 1, "send weights to rank 0, tied_gradients", "backward, stage 1, microbatch 1");
  EXPECT_THAT(judged(plan),
              HasSubstr("error[S0413]: backward, stage 1, microbatch 1 adds to a gradient of the "
                        "tied matrix that was already handed on"));
}

TEST(Tied, TheHeadComputesWithTheMatrixOfTheFirstStep) {
  Plan plan = tied(2);
  // Of the two messages with the matrix, the one in the loop goes.
  for (const auto &[rank, opcode] : {std::pair(0u, Opcode::Send), std::pair(1u, Opcode::Receive)}) {
    Program &program = plan.programs[rank];
    const Loop &steps = program.loops.front();
    for (std::uint32_t index = steps.end; index-- > steps.begin;) {
      Action &action = program.actions[index];
      if (action.opcode != code(opcode) || program.lanes[action.lane].flow != Flow::Weights)
        continue;
      action.opcode = code(Opcode::Join);
      action.operandCount = 0;
      action.lane = 0;
      break;
    }
  }
  EXPECT_THAT(judged(plan), HasSubstr("error[S0203]: forward, stage 1, microbatch 0 needs the "
                                      "weights of initialize or the weights of optimize, stage 0, "
                                      "but `tied_weights of stage 1` holds the weights of "
                                      "initialize, stage 0 of an earlier step"));
}

TEST(Tied, TheHeadComputesWithAnotherMatrix) {
  Plan plan = tied(1);
  const Action &forward = at(plan, 0, "forward, stage 0, microbatch 1");
  constexpr std::uint32_t kTiedWeights = 7, kWorkspace = 6;
  auto &operands = plan.programs[0].operands;
  operands[forward.operands + kTiedWeights] = operands[forward.operands + kWorkspace];
  EXPECT_THAT(judged(plan),
              HasSubstr("error[S0202]: forward, stage 0, microbatch 0 needs the weights of "
                        "initialize or the weights of optimize, stage 0, but `workspace` holds"));
}

} // namespace
} // namespace vime
