// Plans whose trips cannot be left out, though each loop by itself looks as if they could: judged
// by few trips, they would pass or fail for what they are not.
#include "compiler/Verify/LongCases.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "compiler/Verify/LongLoops.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;
using namespace verify;

bool isShortened(const Plan &plan) {
  const std::vector<Choice> choices = choicesOf(plan);
  return std::any_of(choices.begin(), choices.end(),
                     [](const Choice &choice) { return !choice.shortened.empty(); });
}

Plan longPlan() { return lowered({.ranks = 2, .microbatches = 90, .layers = 4}); }

Plan evaluatingPlan() {
  return lowered({.ranks = 2, .microbatches = 3, .layers = 4, .evaluates = 90});
}

/// Puts a copy of an action of rank `rank` in front of the action at `place`.
void insertCopy(Plan &plan, std::uint32_t rank, std::uint32_t action, std::uint32_t place) {
  Program &program = plan.programs[rank];
  const Action copied = program.actions[action];
  program.actions.insert(program.actions.begin() + place, copied);
  const auto shift = [&](std::uint32_t &edge, bool isBegin) {
    edge += edge > place || (isBegin && edge == place);
  };
  for (Loop &loop : program.loops) {
    shift(loop.begin, true);
    shift(loop.end, false);
  }
  for (Case &one : program.cases) {
    shift(one.begin, true);
    shift(one.end, false);
  }
}

std::uint32_t firstOf(const Plan &plan, std::uint32_t rank, Opcode opcode, std::uint32_t from) {
  const std::vector<Action> &actions = plan.programs[rank].actions;
  while (actions[from].opcode != code(opcode))
    ++from;
  return from;
}

TEST(LongCases, AreThoseOfTrainingAndOfEvaluation) {
  EXPECT_TRUE(isShortened(longPlan()));
  const Plan plan = evaluatingPlan();
  const Choice choice = choicesOf(plan).front();
  EXPECT_EQ(choice.shortened.size(), 1u);
  EXPECT_EQ(choice.hidden, 0u);
  EXPECT_GT(choice.hiddenEvaluated, 0u);
  EXPECT_EQ(judged(plan), "");
}

/// Then microbatches of one case would have to follow the trips of the other.
TEST(LongCases, RunTheirPassAlone) {
  Plan plan = lowered({.ranks = 2, .microbatches = 60, .layers = 4, .family = {1, 59, 60}});
  ASSERT_TRUE(isShortened(plan));
  for (Program &program : plan.programs) {
    ASSERT_EQ(program.cases.size(), 2u);
    program.cases[0].condition = 0; // a step of one microbatch, in every step
  }
  EXPECT_FALSE(isShortened(plan));
  EXPECT_NE(codesOf(plan), "");
}

TEST(LongCases, AreTheOnlyPlaceOfTheirTasks) {
  Plan plan = longPlan();
  const std::uint32_t begin = plan.programs[0].cases[0].begin;
  insertCopy(plan, 0, firstOf(plan, 0, Opcode::Forward, begin), begin);
  EXPECT_FALSE(isShortened(plan));
  EXPECT_NE(codesOf(plan), "");
}

/// A message outside could move a slot that few trips do not have.
TEST(LongCases, AreTheOnlyPlaceOfTheirMicrobatches) {
  Plan plan = evaluatingPlan(); // steps of 3, outside of cases; evaluations of 90
  ASSERT_TRUE(isShortened(plan));
  const std::uint32_t begin = plan.programs[0].cases[0].begin;
  const std::uint32_t send = firstOf(plan, 0, Opcode::Send, firstOf(plan, 0, Opcode::Forward, 0));
  ASSERT_LT(send, begin);
  plan.programs[0].actions[send].microbatch = 89;
  EXPECT_FALSE(isShortened(plan));
  EXPECT_NE(codesOf(plan), "");
}

/// A message sent before the case and received behind it puts all others off by one.
TEST(LongCases, StartWithEmptyChannels) {
  Plan plan = evaluatingPlan();
  ASSERT_TRUE(isShortened(plan));
  const std::uint32_t begin = plan.programs[0].cases[0].begin;
  const std::uint32_t loop = plan.programs[0].loops.back().begin;
  insertCopy(plan, 0, firstOf(plan, 0, Opcode::Send, loop), begin);
  const Case one = plan.programs[1].cases[0];
  insertCopy(plan, 1, firstOf(plan, 1, Opcode::Receive, plan.programs[1].loops.back().begin),
             one.end);
  ASSERT_EQ(plan.programs[1].cases[0].end, one.end);
  EXPECT_FALSE(isShortened(plan));
  EXPECT_NE(codesOf(plan), "");
}

TEST(LongCases, HaveLoopsOfTheirOwnName) {
  Plan plan = evaluatingPlan();
  for (Program &program : plan.programs)
    program.loops.back().id = program.loops.front().id;
  EXPECT_FALSE(isShortened(plan));
}

TEST(LongCases, OfOneRankAreThoseOfAll) {
  Plan plan = evaluatingPlan();
  plan.programs[1].cases.back().condition = 0;
  EXPECT_FALSE(isShortened(plan));
  EXPECT_NE(codesOf(plan), "");
}

/// It would not go on by the trips of the loop in front of it.
TEST(LongCases, HoldNoLoopOfOneTripBehindALongOne) {
  Plan plan = longPlan();
  ASSERT_TRUE(longLoopsOf(plan, 0, 90));
  for (Program &program : plan.programs) {
    Loop loop = program.loops.back();
    loop.begin = loop.end;
    loop.end = program.cases[0].end;
    loop.start += loop.trips * loop.period;
    loop.id += 1;
    loop.trips = 1;
    program.loops.push_back(loop);
  }
  EXPECT_FALSE(longLoopsOf(plan, 0, 90));
  EXPECT_NE(codesOf(plan), "");
}

/// What lies in a ring that trips do not write depends on how many there are.
TEST(LongCases, WriteTheirRingsInEveryTrip) {
  Plan plan = longPlan();
  Program &program = plan.programs[0];
  Layout &layout = plan.layouts[0];
  const std::uint32_t forward = firstOf(plan, 0, Opcode::Forward, program.cases[0].begin);
  const std::uint32_t send = firstOf(plan, 0, Opcode::Send, forward);
  ASSERT_LT(send, program.loops.back().begin);
  constexpr std::uint32_t kOutput = 5;
  Buffer ring = layout.buffers[program.operands[program.actions[forward].operands + kOutput]];
  ring.offset = layout.arena[0];
  layout.buffers.push_back(ring);
  const auto moveTo = [&](Action &action, std::uint32_t operand) {
    const auto old = program.operands.begin() + action.operands;
    std::vector<std::uint32_t> own(old, old + action.operandCount);
    own[operand] = static_cast<std::uint32_t>(layout.buffers.size() - 1);
    action.operands = static_cast<std::uint32_t>(program.operands.size());
    program.operands.insert(program.operands.end(), own.begin(), own.end());
  };
  moveTo(program.actions[forward], kOutput);
  EXPECT_TRUE(longLoopsOf(plan, 0, 90)); // one lane uses it, in no trip
  moveTo(program.actions[send], 0);
  EXPECT_FALSE(longLoopsOf(plan, 0, 90));
  EXPECT_NE(codesOf(plan), "");
}

/// A ring of two loops would meet itself in another slot with every trip.
TEST(LongCases, HaveARingInOneLoopOnly) {
  Plan plan = lowered({.schedule = "gpipe", .ranks = 2, .microbatches = 90, .layers = 4});
  ASSERT_TRUE(longLoopsOf(plan, 0, 90));
  for (Buffer &buffer : plan.layouts[0].buffers)
    if (buffer.kind == BufferKind::Stash)
      buffer.count = 7; // written by forwards, used by backwards
  EXPECT_FALSE(longLoopsOf(plan, 0, 90));
  EXPECT_NE(codesOf(plan), "");
}

/// Moves an action of rank 1 to `place`, which is behind it.
void moveBack(Plan &plan, std::uint32_t action, std::uint32_t place) {
  Program &program = plan.programs[1];
  std::rotate(program.actions.begin() + action, program.actions.begin() + action + 1,
              program.actions.begin() + place);
  for (Loop &loop : program.loops) {
    loop.begin -= loop.begin > action && loop.begin <= place;
    loop.end -= loop.end > action && loop.end < place;
  }
  for (Case &one : program.cases) {
    one.begin -= one.begin > action && one.begin <= place;
    one.end -= one.end > action && one.end <= place;
  }
}

TEST(LongCases, DoNotStandBetweenTheEndsOfAMessage) {
  Plan plan = evaluatingPlan();
  const std::uint32_t begin = plan.programs[1].cases.back().begin;
  const std::uint32_t receive = firstOf(plan, 1, Opcode::Receive, begin); // labels
  ASSERT_TRUE(longLoopsOf(plan, 0, 90));
  moveBack(plan, receive, plan.programs[1].loops.back().end + 1);
  EXPECT_FALSE(longLoopsOf(plan, 0, 90));
}

/// Its ends have one time only because trips in between are left out.
TEST(LongCases, DoNotJoinTheEndsOfAMessage) {
  Plan plan = longPlan();
  const Choice choice = choicesOf(plan).front();
  ASSERT_EQ(choice.shortened.size(), 1u);
  const Loop loop = plan.programs[1].loops.back();
  const Case one = plan.programs[1].cases[0];
  const std::uint32_t receive = firstOf(plan, 1, Opcode::Receive, 0); // labels
  ASSERT_LT(receive, one.begin);
  plan.programs[1].actions[receive].time -=
      static_cast<std::int32_t>(loop.start + choice.shortened[0].trips * loop.period);
  moveBack(plan, receive, one.end);
  EXPECT_EQ(choicesOf(plan).front().shortened, choice.shortened);
  EXPECT_NE(codesOf(plan).find("C0205"), std::string::npos) << codesOf(plan);
}

TEST(LongCases, OfAnEvaluationDoNotFollowTheStep) {
  std::vector<std::uint32_t> family(31);
  std::iota(family.begin(), family.end(), 60u);
  Plan plan =
      lowered({.ranks = 2, .microbatches = 90, .layers = 4, .family = family, .evaluates = 90});
  ASSERT_EQ(judged(plan), "");
  for (Program &program : plan.programs)
    program.loops.back().perTrip = 1; // fewer in a short step, of an evaluation that has as many
  EXPECT_NE(codesOf(plan), "");
}

/// However many of them are alike: some would not be looked at.
TEST(LongCases, LeaveTooManyChoicesTooMany) {
  std::vector<std::uint32_t> family(kMaxChoices + 1);
  std::iota(family.begin(), family.end(), 1u);
  const Plan plan =
      lowered({.ranks = 2, .microbatches = family.back(), .layers = 2, .family = family});
  EXPECT_GT(choicesOf(plan).size(), kMaxChoices);
}

/// A few bytes ask for that many trips.
void lengthen(Plan &plan, std::uint32_t microbatches) {
  for (Program &program : plan.programs)
    program.loops.back().trips += microbatches - plan.data.microbatches;
  plan.data.microbatches = microbatches;
}

TEST(LongCases, AreNotUnrolledBeyondBounds) {
  constexpr std::uint32_t kMost = 1u << 20;
  Plan plan = lowered({.ranks = 16, .microbatches = 90, .layers = 16});
  lengthen(plan, kMost);
  EXPECT_FALSE(isShortened(plan)); // it has too few slots
  const std::string said = judged(plan);
  EXPECT_NE(said.find("error[S0302]: the programs unroll to"), std::string::npos) << said;
}

TEST(LongCases, AreNotUnrolledBeyondBoundsInManyStepsEither) {
  std::vector<std::uint32_t> family(1000);
  std::iota(family.begin(), family.end(), (1u << 18) - 999);
  Plan plan = lowered({.ranks = 2, .microbatches = 90, .layers = 2, .family = {60, 90}});
  lengthen(plan, family.back());
  plan.decisions[0].values = family;
  EXPECT_FALSE(isShortened(plan));
  const std::string said = judged(plan);
  EXPECT_NE(said.find("error[S0302]: with all that can be decided"), std::string::npos) << said;
}

/// Nothing between two loops is no edge of a case.
TEST(LongCases, AreNotDrainedBetweenTheirLoops) {
  Program program;
  program.actions.assign(6, {.opcode = code(Opcode::Forward), .step = 1});
  program.loops = {{.id = 0, .begin = 0, .end = 6, .trips = 2, .period = 100},
                   {.id = 1, .begin = 1, .end = 3, .trips = 5, .start = 10, .period = 2},
                   {.id = 2, .begin = 3, .end = 5, .trips = 5, .start = 20, .period = 2}};
  program.actions[0].step = 0;
  program.cases = {{.begin = 0, .end = 5, .condition = 0}};
  for (const Stretch &stretch : stretchesOf(program))
    if (stretch.steps) {
      EXPECT_EQ(stretch.within, stretch.begin < 5 ? &program.cases[0] : nullptr)
          << stretch.begin << " to " << stretch.end;
    }
}

} // namespace
} // namespace vime
