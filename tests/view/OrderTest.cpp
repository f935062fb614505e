// Orders read back from the actions of a plan.
#include <gtest/gtest.h>

#include "compiler/View/PlanText.h"
#include "schedules/Notation.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

TEST(PlanGrid, OneFOneB) {
  EXPECT_EQ("\n" + planGrid(smallPlan()), R"(
rank 0  F0 F1 .  .  B0--- .  B1---
rank 1  .  F0 B0--- F1 B1--- .  .
)");
}

TEST(PlanOrder, OneFOneB) {
  EXPECT_EQ(toCsv(orderOf(smallPlan())), "0F0,0F1,0B0,0B1\r\n1F0,1B0,1F1,1B1\r\n");
}

TEST(PlanOrder, SplitBackwards) {
  Plan plan = smallPlan();
  for (Action &action : plan.programs[1].actions)
    if (action.opcode == code(Opcode::Backward))
      action.opcode = code(action.microbatch == 0 ? Opcode::BackwardInput : Opcode::BackwardWeight);
  EXPECT_EQ(toCsv(orderOf(plan)), "0F0,0F1,0B0,0B1\r\n1F0,1I0,1F1,1W1\r\n");
}

TEST(PlanOrder, ALoopOverMicrobatchesIsUnrolled) {
  Plan plan = smallPlan();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Program &program = plan.programs[rank];
    const std::string first = "forward, stage " + std::to_string(rank) + ", microbatch 0";
    const Action forward = program.actions[indexOf(plan, rank, first)];
    program.actions = {forward, forward};
    program.actions[1].microbatch = 1;
    program.actions[1].step = 2;
    program.loops = {{0, 1, 2, /*trips=*/3, 1, 1}};
  }
  EXPECT_EQ(toCsv(orderOf(plan)), "0F0,0F1,0F3,0F5\r\n1F0,1F1,1F3,1F5\r\n");
}

} // namespace
} // namespace vime
