// Plans that keep every rule pass.
#include <gtest/gtest.h>

#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

TEST(Kept, SmallPlan) { EXPECT_EQ(judged(smallPlan()), ""); }
TEST(Kept, SmallPlanWithExport) { EXPECT_EQ(judged(smallPlan({.exportTo = "model"})), ""); }
TEST(Kept, OneStep) { EXPECT_EQ(judged(smallPlan({.steps = 1})), ""); }

} // namespace
} // namespace vime
