// Plans that keep every rule pass.
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Verify.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

std::string judged(const plan::Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings);
  SourceCache sources;
  return renderText(findings, sources);
}

TEST(Kept, SmallPlan) { EXPECT_EQ(judged(smallPlan()), ""); }
TEST(Kept, SmallPlanWithExport) { EXPECT_EQ(judged(smallPlan({.exportTo = "model"})), ""); }
TEST(Kept, OneStep) { EXPECT_EQ(judged(smallPlan({.steps = 1})), ""); }

} // namespace
} // namespace vime
