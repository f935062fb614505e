// Agreement over every transport: ranks whose programs are folded differently are of one mind.
#include "runtime/Transport/Agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Transport/Ends.h"
#include "tests/Conformance/TransportRanks.h"
#include "tests/exec/ChainPlan.h"

namespace vime {
namespace {

constexpr ChainShape kShape{.ranks = 3, .microbatches = 5, .steps = 4};

/// What each rank says when rank r runs its part of plans[r].
std::vector<Status> reached(Backend backend, const std::vector<plan::Plan> &plans) {
  Setting setting;
  std::vector<Status> statuses(plans.size());
  for (std::uint32_t rank = 0; rank < plans.size(); ++rank)
    setting.ends.push_back(*endsOf(plans[rank], rank));
  runRanks(backend, setting, [&](Rank &rank) {
    const std::uint32_t own = rank.rank;
    Agreement agreement(setting.ends[own], claimsOf(plans[own], own, {}));
    statuses[own] = agreement.reach(*rank.transport);
    // What was posted is read by peers that are behind: `agreement` stays until they have it.
    for (std::uint32_t end = 0; end < setting.ends[own].ends.size(); ++end)
      (void)rank.transport->await(end, 1);
  });
  return statuses;
}

class AgreementSuite : public testing::TestWithParam<Backend> {};

TEST_P(AgreementSuite, FoldedRanksAgreeWithFlatOnes) {
  std::vector<plan::Plan> plans(3, chainPlan(kShape));
  foldMicrobatches(plans[1], 1);
  for (const Status &status : reached(GetParam(), plans))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(AgreementSuite, AnotherPeriodOfALoopOverMicrobatchesIsAnotherTime) {
  std::vector<plan::Plan> plans(3, chainPlan(kShape));
  foldMicrobatches(plans[1], 1);
  plans[1].programs[1].loops[1].period += 1;
  const std::vector<Status> statuses = reached(GetParam(), plans);
  EXPECT_EQ(statuses[2].message(), "rank 1 and rank 2 disagree about the times, bytes or types on "
                                   "rank 1 → rank 2, forward");
}

INSTANTIATE_TEST_SUITE_P(Backends, AgreementSuite,
                         testing::Values(Backend::Local, Backend::Gloo, Backend::Rendezvous),
                         [](const auto &info) { return nameOf(info.param); });

// ---- what counts ---------------------------------------------------------------------------------

/// Claims of rank 1 after a change; folded or not.
std::vector<Claim> claimsAfter(bool folded, void (*change)(plan::Plan &)) {
  plan::Plan plan = chainPlan(kShape);
  if (folded)
    foldMicrobatches(plan, 1);
  change(plan);
  return claimsOf(plan, 1, {});
}

TEST(Claims, SeeStepsTimesMicrobatchesAndBytes) {
  const std::vector<Claim> flat = claimsAfter(false, [](plan::Plan &) {});
  EXPECT_EQ(claimsAfter(true, [](plan::Plan &) {}), flat);
  for (const auto change : {
           +[](plan::Plan &plan) { plan.programs[1].loops[1].start += 1; },
           +[](plan::Plan &plan) { plan.programs[1].loops[1].trips -= 1; },
           +[](plan::Plan &plan) { plan.programs[1].loops[0].trips += 1; },
           +[](plan::Plan &plan) { plan.programs[1].loops[0].period += 1; },
           +[](plan::Plan &plan) { plan.programs[1].actions[0].step = 2; },
           +[](plan::Plan &plan) { plan.programs[1].lanes[1].message.perToken += 1; },
       })
    EXPECT_NE(claimsAfter(true, change), flat);
}

} // namespace
} // namespace vime
