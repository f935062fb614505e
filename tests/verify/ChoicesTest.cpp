// Plans with decisions: lowered ones keep every rule in every choice; each change breaks one.
#include <algorithm>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

/// Two ranks; a step has 3 microbatches or 2; an evaluation of 4 every second step may end the run.
Plan variedPlan(const char *schedule = "1f1b") {
  return lowered({.schedule = schedule,
                  .ranks = 2,
                  .microbatches = 3,
                  .chunks = std::string_view(schedule) == "1f1b" ? 1u : 2u,
                  .family = {2, 3},
                  .evaluates = 4});
}

Action &at(Plan &plan, std::uint32_t rank, std::string_view description) {
  return plan.programs[rank].actions[indexOfAction(plan, rank, description)];
}

TEST(Choices, LoweredPlansKeepEveryRuleInAll) {
  for (const char *schedule : {"1f1b", "zb-v"})
    EXPECT_EQ(judged(variedPlan(schedule)), "") << schedule;
}

TEST(Choices, LoweredPlansOfReplicasKeepEveryRuleInAll) {
  for (const char *schedule : {"1f1b", "zb-h1", "zb-v"})
    EXPECT_EQ(judged(lowered({.schedule = schedule,
                              .microbatches = 3,
                              .chunks = std::string_view(schedule) == "zb-v" ? 2u : 1u,
                              .family = {1, 3},
                              .evaluates = 5,
                              .replicas = 1024})),
              "")
        << schedule;
}

/// What an empty microbatch skips; the first one of a step clears the gradients, a later one adds
/// the gradients of norms that its input gradient made.
TEST(Choices, AnInputGradientThatIsNeededIsNotSkipped) {
  for (const std::uint32_t microbatch : {0u, 1u}) {
    Plan plan = lowered({.schedule = "zb-h1", .microbatches = 3, .mergeBackwards = "none"});
    for (Action &action : plan.programs[0].actions)
      if (action.opcode == code(Opcode::BackwardInput) && action.microbatch == microbatch)
        action.flags |= kSkipIfEmpty;
    EXPECT_NE(judged(plan).find("S0417"), std::string::npos) << microbatch;
  }
}

TEST(Choices, TheFamilyHasACaseForEachMember) {
  const Plan plan = variedPlan();
  const auto counts = valuesOf(plan, Decision::Microbatches);
  EXPECT_EQ(std::vector(counts.begin(), counts.end()), (std::vector<std::uint32_t>{2, 3}));
  for (const Program &program : plan.programs)
    EXPECT_EQ(program.cases.size(), 3u); // two members and the evaluation
}

/// Nothing in its place.
void drop(Program &program, std::uint32_t index) {
  Action &action = program.actions[index];
  action.opcode = code(Opcode::Join);
  action.operandCount = 0;
  action.lane = 0;
}

std::uint8_t guardOf(Plan &plan, std::uint32_t rank, std::string_view description) {
  return at(plan, rank, description).guard;
}

struct Break {
  const char *code;
  const char *message; // a part of it
  std::function<void(Plan &)> change;
};

const Break kBreaks[] = {
    {"D0101", "asks for `evaluate`, which has not arrived by then",
     [](Plan &plan) { // the header never comes to rank 1
       drop(plan.programs[1], indexOfAction(plan, 1, "broadcast `step`"));
     }},
    {"D0102", "in a header that was changed and not sent again",
     [](Plan &plan) { // the last broadcast of the evaluation
       Program &program = plan.programs[0];
       for (std::uint32_t index = program.cases[2].end; index-- > program.cases[2].begin;)
         if (program.actions[index].opcode == code(Opcode::Broadcast))
           return drop(program, index);
     }},
    {"D0201", "writes the step header, as rank 0 does",
     [](Plan &plan) {
       Program &program = plan.programs[1];
       program.lanes.push_back({.kind = LaneKind::Host});
       Action &measure = at(plan, 1, "measure");
       measure.opcode = code(Opcode::Decide);
       measure.lane = static_cast<std::uint8_t>(program.lanes.size() - 1);
       measure.operandCount = 1;
       program.operands[measure.operands] = 0; // the header
     }},
    {"D0202", "brings the step header over group `segments`, others get it over `step`",
     [](Plan &plan) {
       Action &segments = at(plan, 1, "broadcast `segments`");
       segments.operands = at(plan, 1, "broadcast `step`").operands;
     }},
    {"D0203", "condition `microbatches = 5` never holds",
     [](Plan &plan) { plan.conditions[1].value = 5; }},
    {"D0301", "no case has the tasks of a step of 1 microbatches",
     [](Plan &plan) { plan.decisions[0].values = {1, 2, 3}; }},
    {"D0302", "in more than 4096 ways",
     [](Plan &plan) {
       plan.data.microbatches = 5000;
       plan.decisions[0].values.resize(5000);
       std::iota(plan.decisions[0].values.begin(), plan.decisions[0].values.end(), 1);
     }},
    {"D0401", "does not end quiet",
     [](Plan &plan) { // what rank 1 receives last of the shorter step comes behind its case
       --plan.programs[1].cases[0].end;
     }},
    {"D0501", "case 2 is for `evaluate = 1` on rank 0 and for `bad = 0` on rank 1",
     [](Plan &plan) {
       std::uint8_t isGood = 0;
       for (const Condition &condition : plan.conditions) {
         ++isGood;
         if (condition.decision == Decision::Bad)
           break;
       }
       plan.programs[1].cases[2].condition = isGood;
     }},
    {"D0502", "its `stash` is never written",
     [](Plan &plan) {
       at(plan, 1, "evaluate, stage 1, microbatch 0").guard = plan.programs[1].cases[2].condition;
     }},
    {"D0502", "is guarded by `bad = 0`, but every step needs it",
     [](Plan &plan) { at(plan, 0, "report").guard = guardOf(plan, 0, "optimize, stage 0"); }},
    {"D0502", "is guarded by `bad = 0`, but every step needs it",
     [](Plan &plan) {
       for (std::uint32_t rank = 0; rank < 2; ++rank)
         at(plan, rank, "measure").guard = guardOf(plan, 0, "optimize, stage 0");
     }},
    {"D0503", "loop 0 ends on `stop = 1` on rank 0 and on no condition on rank 1",
     [](Plan &plan) { plan.programs[1].loops[0].until = 0; }},
    {"D0601", "divides by the denominator of a header that is not the one decided for this step",
     [](Plan &plan) { // rank 0 reads held-out text in front of its update
       Program &program = plan.programs[0];
       const std::uint32_t scale = indexOfAction(plan, 0, "scale_gradients, stage 0");
       const std::uint32_t load = indexOfAction(plan, 0, "load_evaluation");
       std::swap(program.actions[scale], program.actions[load]);
       std::swap(program.actions[scale].time, program.actions[load].time);
     }},
    {"S0105", "runs in a step of 2 microbatches, followed by an evaluation of 4",
     [](Plan &plan) { at(plan, 0, "forward, stage 0, microbatch 0").microbatch = 2; }},
    {"S0106", "`load_evaluation` runs never in an iteration of loop 0, not once",
     [](Plan &plan) { at(plan, 0, "load_evaluation").opcode = code(Opcode::Load); }},
    {"S0106", "`decide` runs outside of loops, where there is no step",
     [](Plan &plan) {
       Program &program = plan.programs[0];
       const Action decide = at(plan, 0, "decide");
       program.actions.insert(program.actions.begin(), decide);
       program.actions[0].waits = {};
       --program.actions[0].time;
       for (Loop &loop : program.loops)
         ++loop.begin, ++loop.end;
       for (Case &one : program.cases)
         ++one.begin, ++one.end;
     }},
    {"S0106", "`measure_evaluation` runs never in an iteration of loop 0, not once",
     [](Plan &plan) { drop(plan.programs[0], indexOfAction(plan, 0, "measure_evaluation")); }},
    {"S0110", "what an evaluation has measured is not gathered before its report",
     [](Plan &plan) { // it takes the counters of the step for those of the evaluation
       Program &program = plan.programs[0];
       const std::uint32_t measure = indexOfAction(plan, 0, "measure_evaluation");
       std::uint32_t gather = measure;
       while (program.actions[gather].opcode != code(Opcode::Gather))
         ++gather;
       std::swap(program.actions[measure], program.actions[gather]);
       std::swap(program.actions[measure].time, program.actions[gather].time);
     }},
    {"S0417", "is skipped where a microbatch is empty, though what it leaves is read all the same",
     [](Plan &plan) {
       for (Action &action : plan.programs[0].actions)
         if (action.opcode == code(Opcode::Backward) && action.microbatch == 0)
           action.flags |= kSkipIfEmpty;
     }},
    {"S0107", "ends on `evaluate = 1`, which does not say that the run is over",
     [](Plan &plan) {
       for (Program &program : plan.programs)
         program.loops[0].until = program.cases[2].condition;
     }},
    {"S0107", "ends on no condition, though `stop` may be decided",
     [](Plan &plan) {
       for (Program &program : plan.programs)
         program.loops[0].until = 0;
     }},
    {"S0205", "only a part of `input of stage 1` was received",
     [](Plan &plan) {
       for (Program &program : plan.programs)
         for (Lane &lane : program.lanes)
           if (lane.flow == Flow::Forward)
             lane.message.perToken /= 2;
     }},
    {"S0310", "`weights` of rank 1 has 2 slots, but belongs to no microbatch",
     [](Plan &plan) {
       Buffer &weights =
           *std::ranges::find(plan.layouts[1].buffers, BufferKind::Weights, &Buffer::kind);
       weights.offset = plan.layouts[1].arena[0];
       plan.layouts[1].arena[0] += weights.stride * ++weights.count;
     }},
    {"S0416", "is not guarded, though `bad` may be decided",
     [](Plan &plan) { at(plan, 1, "optimize, stage 1").guard = 0; }},
    {"S0417", "is skipped where a microbatch is empty, though what it leaves is read all the same",
     [](Plan &plan) { at(plan, 0, "optimize, stage 0").flags |= kSkipIfEmpty; }},
    {"S0319", "optimize has a guard that it cannot have",
     [](Plan &plan) { at(plan, 0, "optimize, stage 0").guard = 77; }},
    {"S0323", "cuts a loop", [](Plan &plan) { plan.programs[0].cases[0].begin = 0; }},
    {"S0416", "is guarded by something else than bad gradients",
     [](Plan &plan) {
       at(plan, 0, "optimize, stage 0").guard = plan.programs[0].cases[2].condition;
     }},
    {"C0401", "no round connects ranks 0 and 1", [](Plan &plan) { plan.connect.clear(); }},
    {"C0402", "are connected a second time",
     [](Plan &plan) { plan.connect.push_back(plan.connect[0]); }},
    {"C0403", "rank 1 takes part in 20 groups, 16 can be open",
     [](Plan &plan) {
       for (Program &program : plan.programs)
         while (std::ranges::count(program.lanes, LaneKind::Group, &Lane::kind) < 20)
           program.lanes.push_back({.kind = LaneKind::Group});
     }},
};

TEST(Choices, EachRuleCanBeBroken) {
  for (const Break &one : kBreaks) {
    Plan plan = variedPlan();
    one.change(plan);
    const std::string text = judged(plan);
    EXPECT_NE(text.find(std::string("error[") + one.code), std::string::npos)
        << one.code << " not in:\n"
        << text;
    EXPECT_NE(text.find(one.message), std::string::npos) << one.code << ":\n" << text;
  }
}

TEST(Choices, WhatIsWrongInOneMemberIsFoundAndNamed) {
  Plan plan = variedPlan();
  // The backward of the shorter step alone: microbatch 1 runs twice, 0 never.
  Program &program = plan.programs[0];
  for (std::uint32_t index = program.cases[0].begin; index < program.cases[0].end; ++index)
    if (program.actions[index].opcode == code(Opcode::Backward))
      program.actions[index].microbatch = 1;
  const std::string text = judged(plan);
  EXPECT_NE(text.find("error[S0102]"), std::string::npos) << text;
  EXPECT_NE(text.find("in a step with microbatches = 2, evaluate = 1"), std::string::npos) << text;
}

/// Behind its last action each rank copies weights and moments, where `save` is decided.
Plan savingPlan() {
  Plan plan = variedPlan();
  plan.decisions.insert(plan.decisions.begin() + 2, {Decision::Save, {0, 1}});
  plan.conditions.push_back({Decision::Save, Comparison::Equal, 1});
  std::int32_t time = 0;
  for (Program &program : plan.programs)
    time = std::max(time, program.actions[program.loops[0].end - 1].time);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Program &program = plan.programs[rank];
    Layout &layout = plan.layouts[rank];
    program.loops[0].period += 2;
    std::int32_t now = time;
    for (const BufferKind kind : {BufferKind::Weights, BufferKind::Moments}) {
      std::uint32_t source = 0;
      while (layout.buffers[source].kind != kind)
        ++source;
      Buffer copy = layout.buffers[source];
      copy.kind = BufferKind::Workspace;
      copy.stage = kNoStage;
      copy.offset = (layout.arena[0] + 63) / 64 * 64;
      layout.arena[0] = copy.offset + copy.bytes;
      layout.buffers.push_back(copy);
      Action action{.opcode = code(Opcode::Copy), .time = ++now, .operandCount = 2};
      action.guard = static_cast<std::uint8_t>(plan.conditions.size());
      action.operands = static_cast<std::uint32_t>(program.operands.size());
      program.operands.push_back(source);
      program.operands.push_back(static_cast<std::uint32_t>(layout.buffers.size() - 1));
      program.actions.insert(program.actions.begin() + program.loops[0].end++, action);
    }
  }
  return plan;
}

TEST(Checkpoint, ASnapshotThatIsNotWritten) {
  Plan plan = lowered({.microbatches = 2, .layers = 2, .saves = 2});
  EXPECT_EQ(judged(plan), "");
  drop(plan.programs[1], indexOfAction(plan, 1, "checkpoint_shard, stage 1"));
  EXPECT_NE(judged(plan).find("error[K0103]: `save` may be decided, but no checkpoint writes the "
                              "snapshot of stage 1"),
            std::string::npos)
      << judged(plan);
}

/// Else it is on the disk, and no run goes on from it.
TEST(Checkpoint, OneThatGetsNoName) {
  for (const bool runsEarly : {false, true}) {
    const Plan right = lowered({.schedule = "zb-h1",
                                .microbatches = 2,
                                .layers = 2,
                                .evaluates = 2,
                                .saves = 2,
                                .runsEarly = runsEarly});
    EXPECT_EQ(judged(right), "");
    std::vector<std::uint32_t> commits; // the last one behind the steps
    for (std::uint32_t index = 0; index < right.programs[0].actions.size(); ++index)
      if (right.programs[0].actions[index].opcode == code(Opcode::CheckpointCommit))
        commits.push_back(index);
    ASSERT_EQ(commits.size(), runsEarly ? 3u : 2u);
    Plan last = right;
    drop(last.programs[0], commits.back());
    EXPECT_NE(judged(last).find("error[K0104]: rank 0 does not name the last checkpoint behind the "
                                "steps"),
              std::string::npos)
        << judged(last);
    Plan before = right, guarded = right;
    drop(before.programs[0], *(commits.end() - 2));
    guarded.programs[0].actions[*(commits.end() - 2)].guard = 1;
    for (const Plan &plan : {before, guarded})
      EXPECT_NE(judged(plan).find("error[K0104]: checkpoint_shard, stage 0 of rank 0 writes a "
                                  "checkpoint before the one before it is named"),
                std::string::npos)
          << judged(plan);
  }
}

/// A call for the counters of a checkpoint is in front of those for the export.
TEST(Checkpoint, AnExportBehindTheLastCallOfItsRank) {
  Plan plan = lowered({.microbatches = 2, .layers = 2, .exportTo = "out", .saves = 2});
  Program &program = plan.programs[1];
  const std::uint32_t shard = indexOfAction(plan, 1, "export_shard, stage 1");
  std::swap(program.actions[shard], program.actions[shard + 1]);
  std::swap(program.actions[shard].time, program.actions[shard + 1].time);
  ASSERT_EQ(program.actions[shard].opcode, code(Opcode::Gather));
  EXPECT_NE(judged(plan).find("error[S0108]: export_shard, stage 1 runs after what was exported is "
                              "counted"),
            std::string::npos)
      << judged(plan);
}

TEST(Checkpoint, KeepsTheRule) { EXPECT_EQ(judged(savingPlan()), ""); }

TEST(Checkpoint, BreaksTheRule) {
  Plan early = savingPlan();
  Program &program = early.programs[0];
  const std::uint32_t copy = program.loops[0].end - 2;
  const std::uint32_t update = indexOfAction(early, 0, "optimize, stage 0");
  std::swap(program.actions[copy], program.actions[update]);
  std::swap(program.actions[copy].time, program.actions[update].time);
  const std::string text = judged(early);
  EXPECT_NE(text.find("error[K0101]: copy, microbatch 0 of rank 0 takes in front of the update of "
                      "the step `weights of stage 0`"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("error[K0102]: optimize, stage 0 of rank 0 changes behind the checkpoint of "
                      "the step `weights of stage 0`"),
            std::string::npos)
      << text;

  Plan partial = savingPlan();
  drop(partial.programs[1], partial.programs[1].loops[0].end - 1);
  EXPECT_NE(judged(partial).find("error[K0103]: `save` may be decided, but no checkpoint takes the "
                                 "moments of stage 1"),
            std::string::npos)
      << judged(partial);
}

} // namespace
} // namespace vime
