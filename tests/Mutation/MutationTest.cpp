// A thousand mutants: judges and interpreter agree about each, and every reason for which judges
// are stricter is one that is met.
#include <gtest/gtest.h>

#include "tests/Mutation/Campaign.h"
#include "tests/Mutation/Reclock.h"

namespace vime {
namespace {

TEST(Mutation, JudgesAndInterpreterAgree) {
  Campaign campaign;
  campaign.run(0, 1000);
  EXPECT_EQ(campaign.disagreements(), std::vector<std::string>());
  // Else it would prove nothing.
  EXPECT_GT(campaign.times(Agreement::Refused), 500u);
  EXPECT_GT(campaign.times(Agreement::Accepted), 30u);
  std::cout << campaign.table();
}

/// What is judged of a mutant is not that nobody gave it a clock.
TEST(Mutation, AnyRightPlanGetsAClockAgain) {
  for (const BasePlan &base : basePlans()) {
    plan::Plan plan = base.plan;
    for (plan::Program &program : plan.programs)
      for (plan::Action &action : program.actions)
        action.time = 0;
    EXPECT_EQ(tryPlan(plan, "").agreement, Agreement::Refused) << base.name;
    ASSERT_TRUE(reclock(plan)) << base.name;
    EXPECT_EQ(tryPlan(plan, "").agreement, Agreement::Accepted) << base.name;
  }
}

} // namespace
} // namespace vime
