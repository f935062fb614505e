// The interpreter itself: right plans are right in every course, whatever fires first; and one
// wrong thing in them is called by its name.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/Plan/Describe.h"
#include "tests/Interpreter/Interpreter.h"
#include "tests/Interpreter/OrderRun.h"
#include "tests/Mutation/Bases.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;
using interpreter::Fault;
using interpreter::Verdict;

Verdict judged(const Plan &plan) { return interpreter::judge(plan, interpreter::coursesOf(plan)); }

TEST(Interpreter, FindsPlansRightThatAreRight) {
  for (const BasePlan &base : basePlans()) {
    const Verdict verdict = judged(base.plan);
    EXPECT_EQ(verdict.fault, Fault::None) << base.name << ": " << verdict.text;
  }
  EXPECT_EQ(judged(smallPlan()).fault, Fault::None);
  EXPECT_EQ(judged(foldedPlan()).fault, Fault::None);
}

TEST(Interpreter, WhateverFiresFirst) {
  for (const BasePlan &base : basePlans())
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const Verdict verdict =
          interpreter::wander(base.plan, seed % interpreter::coursesOf(base.plan), seed);
      EXPECT_EQ(verdict.fault, Fault::None) << base.name << ": " << verdict.text;
    }
}

TEST(Interpreter, FindsOrdersRightThatAreRight) {
  for (const BaseOrder &base : baseOrders())
    EXPECT_EQ(
        interpreter::runOrder(base.order, static_cast<int>(base.job.pipeline.microbatches.value)),
        "")
        << base.name;
}

struct Spoiled {
  Fault fault;
  const char *text; // a part of what is said
  std::function<void(Plan &)> change;
};

Action &at(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOf(plan, rank, description)];
}

TEST(Interpreter, NamesWhatIsWrong) {
  const Spoiled kSpoiled[] = {
      {Fault::Unreadable, "waits for a lane",
       [](Plan &plan) { plan.programs[0].actions[5].waits[0] = Wait::on(60, 1); }},
      {Fault::Meeting, "is stated differently at its ends",
       [](Plan &plan) { plan.programs[0].lanes[2].message.type = DataType::BFloat16; }},
      {Fault::Clock, "has no later time",
       [](Plan &plan) { at(plan, 0, "scale_gradients, stage 0").time += 1; }},
      {Fault::Clock, "meets at another time",
       [](Plan &plan) { at(plan, 0, "send forward to rank 1, stage 0, microbatch 1").time -= 1; }},
      {Fault::Race, "forward, stage 1, microbatch 0",
       [](Plan &plan) { at(plan, 1, "forward, stage 1, microbatch 0").waits = {}; }},
      {Fault::Tasks, "loss of stage 1, microbatch 0",
       [](Plan &plan) { at(plan, 1, "loss, stage 1, microbatch 1").microbatch = 0; }},
      {Fault::Wrong, "sum of",
       [](Plan &plan) { at(plan, 0, "backward, stage 0, microbatch 0").immediate = 0; }},
  };
  for (const Spoiled &spoiled : kSpoiled) {
    Plan plan = smallPlan();
    spoiled.change(plan);
    const Verdict verdict = judged(plan);
    EXPECT_EQ(interpreter::nameOf(verdict.fault), interpreter::nameOf(spoiled.fault));
    EXPECT_NE(verdict.text.find(spoiled.text), std::string::npos) << verdict.text;
  }
}

/// Two ranks that both send first get stuck where transfers meet strictly.
TEST(Interpreter, FindsWhoWaitsForEachOther) {
  Plan plan = smallPlan();
  // Rank 0 receives its first gradient before it sends the first output.
  auto &actions = plan.programs[0].actions;
  std::swap(actions[indexOf(plan, 0, "send forward to rank 1, stage 0, microbatch 0")],
            actions[indexOf(plan, 0, "receive backward from rank 1, stage 0, microbatch 0")]);
  const Verdict verdict = interpreter::wander(plan, 0, 1);
  EXPECT_TRUE(verdict.fault == Fault::Clock || verdict.fault == Fault::Stuck) << verdict.text;
}

/// A wait that only another rank makes good is missing all the same, and is told apart.
TEST(Interpreter, TellsAnOrderThatOnlyPeersMake) {
  Plan plan = smallPlan();
  // The first output of the next step overwrites what was sent in this one; its gradient came back.
  Action &forward = at(plan, 0, "forward, stage 0, microbatch 0");
  forward.waits[1] = {};
  const Verdict verdict = judged(plan);
  EXPECT_EQ(verdict.fault, Fault::Race) << verdict.text;
  EXPECT_TRUE(verdict.orderedByPeers);
}

} // namespace
} // namespace vime
