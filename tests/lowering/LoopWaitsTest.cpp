// Waits of loops over microbatches inside the loop over steps: derived, then judged by those who
// unroll them.
#include <numeric>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Lowering/DeriveWaits.h"
#include "compiler/Verify/Verify.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

bool derive(Program &program, const Layout &layout, bool isRoot) {
  std::vector<std::uint32_t> trips;
  for (const Loop &loop : program.loops)
    trips.push_back(loop.trips);
  std::vector<std::uint32_t> apart(layout.buffers.size());
  std::iota(apart.begin(), apart.end(), 0u);
  return deriveWaits(program, layout, {}, apart, std::vector<bool>(program.lanes.size(), isRoot),
                     {trips});
}

std::string judgedAfterDeriving(Plan plan) {
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    EXPECT_TRUE(derive(plan.programs[rank], plan.layouts[rank], rank == 0));
  Findings findings;
  verifyPlan(plan, findings);
  SourceCache sources;
  return renderText(findings, sources);
}

/// Of the folded forward on the sends of its output.
int distanceOfForward(Plan plan) {
  Program &program = plan.programs[0];
  EXPECT_TRUE(derive(program, plan.layouts[0], /*isRoot=*/true));
  const std::uint32_t begin = program.loops[kFoldedLoop].begin;
  for (const Wait wait : program.actions[begin].waits)
    if (!wait.empty() && wait.lane() == program.actions[begin + 1].lane)
      return wait.distance();
  return 0;
}

Plan withOutputs(std::uint32_t slots) {
  Plan plan = foldedPlan();
  for (Buffer &buffer : plan.layouts[0].buffers)
    if (buffer.kind == BufferKind::Output)
      buffer.count = slots;
  return plan;
}

TEST(LoopWaits, HoldInEveryIterationAndOverTheStep) {
  EXPECT_EQ(judgedAfterDeriving(smallPlan()), "");
  EXPECT_EQ(judgedAfterDeriving(foldedPlan()), "");
  EXPECT_EQ(judgedAfterDeriving(withOutputs(1)), "");
}

TEST(LoopWaits, ReachAsFarBackAsTheRingIsLong) {
  EXPECT_EQ(distanceOfForward(withOutputs(2)), 2);
  EXPECT_EQ(distanceOfForward(withOutputs(1)), 1);
}

} // namespace
} // namespace vime
