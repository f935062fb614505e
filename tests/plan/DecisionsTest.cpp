// What may vary: decisions, conditions, guards and cases in the file, and what a reader refuses.
#include "runtime/Plan/Decisions.h"

#include <functional>

#include <gtest/gtest.h>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/plan/ForgedFile.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

/// Rank 0's forwards run only in whole steps, its optimizer only if the gradients are finite; the
/// loop may end early.
Plan decidedPlan() {
  Plan plan = smallPlan();
  plan.decisions = {
      {Decision::Microbatches, {1, 2}}, {Decision::Stop, {0, 1}}, {Decision::Bad, {0, 1}}};
  plan.conditions = {{Decision::Microbatches, Comparison::Equal, 2},
                     {Decision::Bad, Comparison::Equal, 0},
                     {Decision::Stop, Comparison::Equal, 1}};
  plan.evaluation = {"held.txt", 512, {3, 4}, 10, /*batch=*/3, 3, 2, 1.5};
  plan.optimizer.warmup = 2;
  plan.optimizer.decay = Decay::Cosine;
  plan.optimizer.floor = 1e-5;
  plan.data.tail = Tail::Short;
  Program &program = plan.programs[0];
  const std::uint32_t first = indexOf(plan, 0, "forward, stage 0, microbatch 0");
  program.cases = {{first, first + 4, 1}};
  program.loops[0].until = 3;
  program.actions[indexOf(plan, 0, "optimize, stage 0")].guard = 2;
  return plan;
}

/// Room for three microbatches of an evaluation.
Plan withRoom(Plan plan) {
  constexpr std::uint32_t kMicrobatches = 3;
  plan.groups[0].message.fixed = StepHeader::bytes(kMicrobatches);
  for (Layout &layout : plan.layouts) {
    std::uint64_t &arena = layout.arena[0];
    for (Buffer &buffer : layout.buffers) {
      const bool isPerStep =
          buffer.kind >= BufferKind::Segments && buffer.kind <= BufferKind::Losses;
      if (buffer.kind == BufferKind::Header)
        buffer.bytes = StepHeader::bytes(kMicrobatches), buffer.stride = 2 * kBufferAlignment;
      if (isPerStep)
        buffer.count = kMicrobatches;
      if (isPerStep || buffer.kind == BufferKind::Header) {
        buffer.offset = arena;
        arena += kBufferAlignment * kMicrobatches;
      }
    }
  }
  return plan;
}

TEST(Decisions, ComeBackFromAFile) {
  const Plan plan = withRoom(decidedPlan());
  ASSERT_TRUE(checkPlan(plan).ok()) << checkPlan(plan).message();
  const StatusOr<Plan> back = parsePlan(serializePlan(plan));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, plan);
  EXPECT_NE(planId(plan), planId(withRoom(smallPlan())));
}

TEST(Decisions, AreNamed) {
  const Plan plan = decidedPlan();
  EXPECT_EQ(describeCondition(plan, 1), "microbatches = 2");
  EXPECT_EQ(describeCondition(plan, 4), "condition 4");
}

TEST(Decisions, ValuesAndConditions) {
  const Plan plan = decidedPlan();
  EXPECT_EQ(valuesOf(plan, Decision::Microbatches).size(), 2u);
  EXPECT_TRUE(valuesOf(plan, Decision::Save).empty());
  EXPECT_EQ(mostMicrobatchesOf(plan), 3u); // the evaluation has more than a step
  const StepHeader header{.microbatches = 5, .evaluate = 1};
  EXPECT_EQ(decided(header, Decision::Microbatches), 5u);
  EXPECT_EQ(decided(header, Decision::Evaluate), 1u);
  const auto holdsFor = [](Comparison comparison, std::uint32_t value) {
    return holds({Decision::Microbatches, comparison, 4}, value);
  };
  EXPECT_TRUE(holdsFor(Comparison::Equal, 4) && !holdsFor(Comparison::Equal, 3));
  EXPECT_TRUE(holdsFor(Comparison::NotEqual, 3) && !holdsFor(Comparison::NotEqual, 4));
  EXPECT_TRUE(holdsFor(Comparison::Less, 3) && !holdsFor(Comparison::Less, 4));
  EXPECT_TRUE(holdsFor(Comparison::AtLeast, 4) && !holdsFor(Comparison::AtLeast, 3));
}

TEST(Decisions, WhatAReaderRefuses) {
  struct Change {
    const char *sentence;
    std::function<void(Plan &)> apply;
  };
  const Change changes[] = {
      {"decision 0 has values that nothing decides",
       [](Plan &p) { p.decisions[0].values = {1, 3}; }}, // a whole step has 2
      {"decision 0 has values that nothing decides",
       [](Plan &p) { p.decisions[0].values = {2, 1}; }},
      {"decision 1 has values that nothing decides", [](Plan &p) { p.decisions[1].values = {}; }},
      {"decision 1 has values that nothing decides",
       [](Plan &p) { p.decisions[1].values = {0, 2}; }},
      {"decision 1 has values that nothing decides",
       [](Plan &p) { p.decisions[1].decision = Decision::Microbatches; }},
      {"decision 2 has values that nothing decides",
       [](Plan &p) { p.decisions[2].decision = Decision(9); }},
      {"condition 3 is about a decision that nobody makes",
       [](Plan &p) { p.conditions[2].decision = Decision::Save; }},
      {"condition 1 is about a decision that nobody makes",
       [](Plan &p) { p.conditions[0].comparison = Comparison(4); }},
      {"the plan is damaged: part `common` cannot be read",
       [](Plan &p) { p.conditions.resize(255, p.conditions.front()); }},
      {"rank 0: loop 0 ends on a condition that it cannot have",
       [](Plan &p) { p.programs[0].loops[0].until = 4; }},
      {"rank 0: loop 0 runs as often as a step asks for, but lies in no case",
       [](Plan &p) { p.programs[0].loops[0].perTrip = 1; }},
      {"rank 0: case 0 has a condition that does not exist",
       [](Plan &p) { p.programs[0].cases[0].condition = 5; }},
      {"rank 0: case 0 does not fit its program", [](Plan &p) { p.programs[0].cases[0].end = 0; }},
      {"rank 0: case 0 cuts a loop", [](Plan &p) { p.programs[0].cases[0].begin = 0; }},
      {"rank 0: case 1 does not fit its program",
       [](Plan &p) { p.programs[0].cases.push_back(p.programs[0].cases[0]); }},
      {"rank 0: case 4096 is beyond the most that a program has",
       [](Plan &p) { p.programs[0].cases.resize(4097, p.programs[0].cases[0]); }},
      {"rank 0: loop 4096 is beyond the most that a program has",
       [](Plan &p) {
         auto &loops = p.programs[0].loops;
         for (std::uint32_t id = 1; loops.size() <= 4096; ++id)
           loops.push_back({id, loops[0].begin, loops[0].end, 1, 0, 1});
       }},
      {"rank 0: action 18 (optimize, stage 0) has an unknown flag or a condition that does not "
       "exist",
       [](Plan &p) { p.programs[0].actions[18].guard = 4; }},
      {"rank 0: action 3 (broadcast `step`) has a guard, though it has counterparts; put it into "
       "a case",
       [](Plan &p) { p.programs[0].actions[3].guard = 1; }},
      {"rank 1 has no buffer that holds its scalars",
       [](Plan &p) { p.layouts[1].buffers.push_back(p.layouts[1].buffers[4]); }},
      {"an evaluation of 3 microbatches every 0 steps", [](Plan &p) { p.evaluation.every = 0; }},
      {"an evaluation of 4 samples in 3 microbatches of 1 in each replica",
       [](Plan &p) { p.evaluation.batch = 4; }},
      {"the held-out text file has no legible name", [](Plan &p) { p.evaluation.text.clear(); }},
      {"what becomes of the end of an epoch is unknown", [](Plan &p) { p.data.tail = Tail(3); }},
      {"a setting of the optimizer is out of range", [](Plan &p) { p.optimizer.decay = Decay(3); }},
      {"a setting of the optimizer is out of range", [](Plan &p) { p.optimizer.warmup = 4; }},
  };
  for (const Change &change : changes) {
    Plan plan = withRoom(decidedPlan());
    change.apply(plan);
    EXPECT_EQ(parsePlan(serializePlan(plan)).status().message(), change.sentence);
  }
}

TEST(Decisions, ForgedBytesGiveAPlanThatPassesOrASentence) {
  const ForgedFile whole = ForgedFile::of(withRoom(decidedPlan()));
  int refused = 0;
  for (const file::PartKind kind : {file::PartKind::Common, file::PartKind::Program}) {
    const std::size_t bytes = ForgedFile(whole).part(kind).bytes.size();
    for (std::size_t bit = 0; bit < 8 * bytes; ++bit) {
      ForgedFile file = whole;
      file.part(kind).bytes[bit / 8] ^= static_cast<char>(1u << bit % 8);
      const StatusOr<Plan> read = parsePlan(file.bytes());
      refused += !read.ok();
      EXPECT_TRUE(read.ok() || read.status().code() == StatusCode::Unacceptable);
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Decisions, AnEvaluationNeedsRoomForItsMicrobatches) {
  Plan plan = withRoom(decidedPlan());
  plan.evaluation.microbatches = 4;
  EXPECT_FALSE(checkPlan(plan).ok());
}

TEST(Stretches, EndAtTheEdgesOfCases) {
  const Plan plan = decidedPlan();
  const Program &program = plan.programs[0];
  const Case &one = program.cases[0];
  std::vector<std::array<std::uint32_t, 3>> pieces;
  for (const Stretch &stretch : stretchesOf(program))
    pieces.push_back({stretch.begin, stretch.end, stretch.within == &one});
  const std::uint32_t end = program.loops[0].end;
  EXPECT_EQ(pieces, (std::vector<std::array<std::uint32_t, 3>>{{0, 1, 0},
                                                               {1, one.begin, 0},
                                                               {one.begin, one.end, 1},
                                                               {one.end, end, 0},
                                                               {end, end, 0}}));
}

TEST(Stretches, ACaseHoldsLoopsOverMicrobatches) {
  Plan plan = foldedPlan();
  Program &program = plan.programs[0];
  const Loop &inner = program.loops[kFoldedLoop];
  program.cases = {{inner.begin - 1, inner.end + 1, 1}};
  EXPECT_FALSE(findCaseMisfit(program).has_value());
  std::uint32_t within = 0;
  for (const Stretch &stretch : stretchesOf(program))
    within += stretch.within ? (stretch.end - stretch.begin) * stretch.trips : 0;
  EXPECT_EQ(within, 1 + 2 * 2 + 1u);

  program.cases = {{inner.begin, inner.begin + 1, 1}};
  EXPECT_STREQ(findCaseMisfit(program)->problem, "lies in a loop over microbatches");
  program.cases = {{inner.begin + 1, inner.end + 1, 1}};
  EXPECT_STREQ(findCaseMisfit(program)->problem, "cuts a loop");
}

/// The folded forwards in a case that always runs, of which a step runs one or two.
Plan countedPlan() {
  Plan plan = withRoom(foldedPlan());
  Program &program = plan.programs[0];
  Loop &inner = program.loops[kFoldedLoop];
  program.cases = {{inner.begin - 1, inner.end + 1, 0}};
  inner.perTrip = 1;
  plan.decisions.insert(plan.decisions.begin(), {Decision::Microbatches, {1, 2}});
  return plan;
}

TEST(Loops, HaveTheTripsThatAStepAsksFor) {
  const Plan plan = countedPlan();
  EXPECT_EQ(checkPlan(plan).message(), "");
  EXPECT_EQ(parsePlan(serializePlan(plan)).value(), plan);
  const Loop &inner = plan.programs[0].loops[kFoldedLoop];
  EXPECT_EQ(tripsOf(inner, 2, 2), 2u);
  EXPECT_EQ(tripsOf(inner, 2, 1), 1u);
  EXPECT_EQ(tripsOf(inner, 2, 0), std::nullopt); // one trip runs at least
  EXPECT_EQ(tripsOf(inner, 2, 3), std::nullopt);
  EXPECT_EQ(tripsOf(plan.programs[0].loops[0], 2, 1), plan.run.steps);
}

TEST(Loops, WhatIsBehindThemAdvancesByTheirTrips) {
  Plan plan = countedPlan();
  Program &program = plan.programs[0];
  const Loop inner = program.loops[kFoldedLoop];
  program.actions[inner.end].step = 1;
  program.actions[inner.end + 1].step = 1; // behind the edge of the case: by nothing
  const std::uint32_t trips[] = {program.loops[0].trips, 1};
  for (const std::uint32_t inStep : {2u, 1u}) {
    const auto stretches = inStep == 2 ? stretchesOf(program) : stretchesOf(program, trips);
    for (const Stretch &stretch : stretches) {
      EXPECT_EQ(stretch.first, stretch.begin == inner.end ? inStep : 0);
      if (stretch.begin == inner.end) {
        EXPECT_EQ(stretch.start, program.loops[0].start + inner.start + inStep * inner.period);
      }
    }
  }
}

TEST(Loops, AreMadeForEveryStepInWhichTheyRun) {
  Plan plan = countedPlan();
  plan.programs[0].loops[kFoldedLoop].perTrip = 2;
  EXPECT_EQ(checkPlan(plan).message(),
            "rank 0: loop 7 is not made for every number of microbatches with which it runs");
  plan = countedPlan();
  plan.decisions.erase(plan.decisions.begin());
  EXPECT_EQ(checkPlan(plan).message(),
            "rank 0: loop 7 runs as often as a step asks for, but steps do not differ");
}

} // namespace
} // namespace vime
