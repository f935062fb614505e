// Loops, messages and tables: what is not the matter of a single rule.
#include <gtest/gtest.h>

#include <set>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Verify/Codes.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/Describe.h"
#include "tests/Interpreter/Interpreter.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

/// The small plan for one step, without its loop over steps.
Plan flatPlan() {
  Plan plan = smallPlan({.steps = 1});
  for (Program &program : plan.programs) {
    for (std::uint32_t index = program.loops[0].begin; index < program.loops[0].end; ++index)
      program.actions[index].time += static_cast<std::int32_t>(program.loops[0].start);
    program.loops.clear();
  }
  return plan;
}

/// … and with rank 0's two forwards and their sends as a loop over microbatches:
///   forward 0, send 0, forward 1, send 1   at 6, 7, 8, 10   becomes   (forward i, send i) × 2   at
///   6 + 3i, 7 + 3i
Plan foldedFlatPlan() {
  Plan plan = flatPlan();
  Program &program = plan.programs[0];
  const std::uint32_t first = indexOf(plan, 0, "forward, stage 0, microbatch 0");
  program.actions.erase(program.actions.begin() + first + 2, program.actions.begin() + first + 4);
  for (std::uint32_t index = first; index < first + 2; ++index) {
    program.actions[index].step = 1;
    program.actions[index].time -= 6;
  }
  program.loops.push_back({7, first, first + 2, 2, 6, 3});
  for (std::uint32_t index = first + 2; index < program.actions.size(); ++index)
    program.actions[index].time -= 6 + 2 * 3; // the clock behind a loop starts at its end
  return plan;
}

TEST(Loops, AStepWithoutALoopKeepsTheRules) { EXPECT_EQ(judged(flatPlan()), ""); }

TEST(Loops, ALoopOverMicrobatchesIsJudgedIterationByIteration) {
  EXPECT_EQ(judged(foldedFlatPlan()), "");
}

TEST(Loops, ALoopOverMicrobatchesThatDoesNotAdvance) {
  Plan plan = foldedFlatPlan();
  plan.programs[0].actions[plan.programs[0].loops[0].begin].step = 0;
  EXPECT_EQ(codesOf(plan), "S0102 S0101 M0303"); // the output is also overwritten while it is sent
}

TEST(Loops, TheClockOfALoopOverMicrobatches) {
  Plan plan = foldedFlatPlan();
  plan.programs[0].loops[0].period = 2;
  // The second send is now at 9, the receive still at 10, and all behind the loop two ticks early.
  EXPECT_EQ(judged(plan).substr(0, 106), "error[C0205]: message 1 of channel `rank 0 → rank 1, "
                                         "forward` has time 9 on rank 0 and time 10 on rank 1");
}

TEST(Loops, ALoopOverMicrobatchesThatIsTooLong) {
  Plan plan = foldedFlatPlan();
  plan.programs[0].loops[0].trips = 3;
  EXPECT_EQ(codesOf(plan), "S0308");
}

// ---- a loop over microbatches in the loop over steps ---------------------------------------------

/// foldedPlan() after a change of rank 0's program, layout and inner loop.
std::string codesAfter(void (*change)(Program &, Layout &, Loop &)) {
  Plan plan = foldedPlan();
  change(plan.programs[0], plan.layouts[0], plan.programs[0].loops[kFoldedLoop]);
  return codesOf(plan);
}

TEST(NestedLoops, KeepTheRules) {
  EXPECT_EQ(judged(foldedPlan()), "");
  EXPECT_EQ(judged(foldedPlan({.steps = 1})), "");
  EXPECT_EQ(judged(foldedPlan({.exportTo = "model"})), "");
  EXPECT_EQ(interpreter::judge(foldedPlan(), 1).fault, interpreter::Fault::None);
}

TEST(NestedLoops, APeriodThatIsTooShort) {
  // Forward 1 would stand where send 0 does; the message and all behind it are early.
  EXPECT_EQ(codesAfter([](Program &, Layout &, Loop &loop) { loop.period = 1; }),
            "C0202 C0205 C0206");
  Plan plan = foldedPlan();
  plan.programs[0].loops[kFoldedLoop].period = 2;
  EXPECT_EQ(judged(plan).substr(0, 106), "error[C0205]: message 1 of channel `rank 0 → rank 1, "
                                         "forward` has time 9 on rank 0 and time 10 on rank 1");
}

TEST(NestedLoops, APeriodOfTheStepThatEndsBeforeTheLoopDoes) {
  Plan plan = foldedPlan();
  for (Program &program : plan.programs)
    program.loops[0].period = 25;
  EXPECT_EQ(judged(plan).substr(0, 75),
            "error[C0203]: the body of loop 0 spans 25 ticks on rank 0, its period is 25");
}

TEST(NestedLoops, ARingThatIsTooSmallForTheBackEdge) {
  const auto shrink = [](Layout &layout) {
    for (Buffer &buffer : layout.buffers)
      if (buffer.kind == BufferKind::Output)
        buffer.count = 1;
  };
  Plan plan = foldedPlan();
  shrink(plan.layouts[0]);
  EXPECT_EQ(codesOf(plan), "M0303"); // forward 1 overwrites what send 0 may still read …
  Program &program = plan.programs[0];
  Action &forward = program.actions[program.loops[kFoldedLoop].begin];
  forward.waits[1] = Wait::on(forward.waits[1].lane(), 1);
  EXPECT_EQ(judged(plan), ""); // … unless it waits for the latest send instead of the one before
}

TEST(NestedLoops, AMissingWait) {
  // Forward i overwrites what send i of the step before may still read.
  EXPECT_EQ(codesAfter([](Program &program, Layout &, Loop &loop) {
              program.actions[loop.begin].waits[1] = {};
            }),
            "M0303");
  EXPECT_EQ(codesAfter([](Program &program, Layout &, Loop &loop) {
              program.actions[loop.begin + 1].waits = {};
            }),
            "M0301");
}

TEST(NestedLoops, ALoopThatDoesNotAdvance) {
  EXPECT_EQ(codesAfter([](Program &program, Layout &, Loop &loop) {
              program.actions[loop.begin].step = program.actions[loop.begin + 1].step = 0;
            }),
            "S0102 S0101 C0103 M0303");
}

TEST(NestedLoops, ThatAreNoTree) {
  const auto sentence = [](void (*change)(std::vector<Loop> &)) {
    Plan plan = foldedPlan();
    change(plan.programs[0].loops);
    const std::string text = judged(plan);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(sentence([](auto &loops) { loops.push_back({8, 7, 8, 1, 0, 1}); }),
            "error[S0308]: loop 8 of rank 0 lies in two others; only one is possible");
  EXPECT_EQ(sentence([](auto &loops) { loops[0].end = loops[kFoldedLoop].end - 1; }),
            "error[S0308]: loop 7 of rank 0 overlaps another one");
  EXPECT_EQ(sentence([](auto &loops) { std::swap(loops[0], loops[1]); }),
            "error[S0308]: loop 0 of rank 0 does not fit its program");
  EXPECT_EQ(sentence([](auto &loops) { loops[kFoldedLoop].trips = 3; }),
            "error[S0308]: loop 7 of rank 0 runs 3 times in a step of 2 microbatches");
}

TEST(Sharing, BuffersThatAreUsedOneAfterTheOtherMayShareBytes) {
  Plan plan = smallPlan();
  auto &buffers = plan.layouts[1].buffers;
  const auto of = [&](BufferKind kind) {
    return std::find_if(buffers.begin(), buffers.end(),
                        [kind](const Buffer &buffer) { return buffer.kind == kind; });
  };
  // The squares of all ranks come when the input of the step has been read …
  of(BufferKind::Input)->offset = of(BufferKind::AllSquares)->offset;
  EXPECT_EQ(codesOf(plan), "M0201");
  // … and the input of the next step when `measure`, behind `clip`, is done.
  const auto receive = indexOf(plan, 1, "receive forward from rank 0, stage 1, microbatch 0");
  plan.programs[1].actions[receive].waits[0] = Wait::on(0, 1);
  EXPECT_EQ(judged(plan), "");
}

TEST(Channels, TheWrongRank) {
  Plan plan = lowered({.schedule = "1f1b", .ranks = 4, .microbatches = 4});
  ASSERT_EQ(judged(plan), "");
  for (Lane &lane : plan.programs[plan.programOf[1]].lanes)
    if (lane.kind == LaneKind::Send && lane.flow == Flow::Forward)
      ++lane.peer.value;
  const std::string text = judged(plan);
  EXPECT_NE(
      text.find("error[C0101]: channel `rank 1 → rank 2, forward` has 0 sends and 4 receives"),
      std::string::npos);
  EXPECT_NE(
      text.find("error[C0101]: channel `rank 1 → rank 3, forward` has 4 sends and 0 receives"),
      std::string::npos);
}

TEST(Messages, LeadToTheLineThatTheUserWrote) {
  Plan plan = smallPlan();
  plan.origins = {{code(Opcode::Backward), 3, 13, 4, "pipeline.schedule"}};
  plan.programs[0].actions[indexOf(plan, 0, "backward, stage 0, microbatch 0")].immediate = 0;
  Findings findings;
  verifyPlan(plan, findings, "job.yaml");
  SourceCache sources;
  sources.add("job.yaml", "version: 1\npipeline:\n  schedule: 1f1b\n");
  EXPECT_EQ(
      renderText(findings, sources),
      R"(error[S0402]: backward, stage 0, microbatch 0 is the first weight gradient of the stage in a step, but adds to those of the last step
 --> job.yaml:3:13
  |
3 |   schedule: 1f1b
  |             ^^^^ `backward` comes from here
  = to   rank 0, action 11: backward, stage 0, microbatch 0
)");
}

TEST(Messages, AFewOfEachCodeAreShown) {
  Plan plan = smallPlan();
  for (Action &action : plan.programs[1].actions)
    if (action.opcode == code(Opcode::Forward) || action.opcode == code(Opcode::Loss))
      action.waits = {};
  const std::string text = judged(plan);
  EXPECT_NE(text.find("more of this kind"), std::string::npos) << text;
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = text.find("error[M0301]", at)) != std::string::npos; ++at)
    ++shown;
  EXPECT_EQ(shown, 3u);
}

TEST(Tables, EveryRuleIsJudgedOnceAndSaysWhatHolds) {
  std::set<Rule> rules;
  for (const ProvedRule &proved : provedRules()) {
    EXPECT_TRUE(rules.insert(proved.rule).second) << nameOf(proved.rule);
    EXPECT_FALSE(proved.sentence.empty());
  }
  EXPECT_EQ(rules.size(), 20u);
}

TEST(Tables, CodesAscend) {
  const auto codes = verifierCodes();
  for (std::size_t index = 1; index < codes.size(); ++index)
    EXPECT_LT(std::pair(codes[index - 1].rule, codes[index - 1].number),
              std::pair(codes[index].rule, codes[index].number));
}

} // namespace
} // namespace vime
