// Plans whose optimizer runs early: lowered ones keep every rule, whatever the verdict on a step;
// each change breaks one.
#include <functional>

#include <gtest/gtest.h>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

/// Two ranks; an evaluation and a checkpoint every second step.
Plan earlyPlan(const char *schedule = "1f1b") {
  return lowered({.schedule = schedule,
                  .microbatches = 3,
                  .layers = 2,
                  .exportTo = "out",
                  .evaluates = 2,
                  .saves = 2,
                  .runsEarly = true});
}

TEST(EarlyCommits, LoweredPlansKeepEveryRule) {
  for (const char *schedule : {"gpipe", "1f1b", "zb-h1", "zb-2p"})
    EXPECT_EQ(judged(earlyPlan(schedule)), "") << schedule;
  EXPECT_EQ(judged(lowered({.schedule = "interleaved",
                            .microbatches = 4,
                            .chunks = 2,
                            .layers = 4,
                            .replicas = 1024,
                            .runsEarly = true})),
            "");
}

// In the case for a bad verdict, but not on every one.
TEST(EarlyCommits, DoneAgainOnOneBadVerdictOnly) {
  Plan plan = earlyPlan();
  plan.conditions.push_back({Decision::Verdict, Comparison::Equal, kRefused});
  Program &program = plan.programs[0];
  for (std::uint32_t index = program.cases[0].begin; index < program.cases[0].end; ++index)
    if (program.actions[index].opcode == code(Opcode::Redo))
      program.actions[index].guard = static_cast<std::uint8_t>(plan.conditions.size());
  EXPECT_NE(codesOf(plan).find("S0421"), std::string::npos) << codesOf(plan);
}

// Behind the cut it is of the step before: in the first step there is none.
TEST(EarlyCommits, ReportsOfNoStep) {
  Plan plan = earlyPlan();
  for (Action &action : plan.programs[0].actions)
    if (action.opcode == code(Opcode::Report) && action.guard != 0)
      action.guard = 0;
  EXPECT_EQ(codesOf(plan), "D0504");
}

// A case on what holds in the same steps by chance is not one on `settle`.
TEST(EarlyCommits, ReportsUnderAnotherCondition) {
  Plan plan = earlyPlan();
  plan.conditions.push_back({Decision::Pending, Comparison::Equal, 1});
  for (Program &program : plan.programs)
    for (Case &one : program.cases)
      if (plan.conditions[one.condition - 1].decision == Decision::Settle)
        one.condition = static_cast<std::uint8_t>(plan.conditions.size());
  EXPECT_NE(codesOf(plan).find("D0504"), std::string::npos) << codesOf(plan);
}

/// Case 0 runs where the verdict is bad, 1 where the step is settled at its own end.
constexpr std::size_t kRedoes = 0, kSettles = 1;

std::uint32_t indexIn(const Plan &plan, std::uint32_t rank, std::size_t place, Opcode opcode) {
  const Program &program = plan.programs[rank];
  std::uint32_t index = program.cases[place].begin;
  while (program.actions[index].opcode != code(opcode))
    ++index;
  EXPECT_LT(index, program.cases[place].end);
  return index;
}

std::uint32_t first(const Plan &plan, std::uint32_t rank, Opcode opcode) {
  std::uint32_t index = 0;
  while (plan.programs[rank].actions[index].opcode != code(opcode))
    ++index;
  return index;
}

/// Nothing in its place.
void drop(Plan &plan, std::uint32_t rank, std::uint32_t index) {
  Action &action = plan.programs[rank].actions[index];
  action.opcode = code(Opcode::Join);
  action.operandCount = 0;
  action.guard = 0;
  action.lane = 0;
}

void swap(Plan &plan, std::uint32_t rank, std::uint32_t one, std::uint32_t other) {
  std::vector<Action> &actions = plan.programs[rank].actions;
  std::swap(actions[one], actions[other]);
  std::swap(actions[one].time, actions[other].time);
}

/// From its place, where nothing is left, to in front of an earlier action.
void move(Plan &plan, std::uint32_t rank, std::uint32_t from, std::uint32_t to) {
  Program &program = plan.programs[rank];
  const Action moved = program.actions[from];
  drop(plan, rank, from);
  program.actions.insert(program.actions.begin() + to, moved);
  for (Loop &loop : program.loops) {
    loop.begin += loop.begin > to;
    loop.end += loop.end > to;
  }
  for (Case &one : program.cases) {
    one.begin += one.begin > to;
    one.end += one.end > to;
  }
}

struct Break {
  const char *code;
  const char *message; // a part of it
  std::function<void(Plan &)> change;
};

const Break kBreaks[] = {
    {"D0101", "asks for `verdict`, which has not arrived by then",
     [](Plan &plan) { drop(plan, 1, first(plan, 1, Opcode::Settle)); }},
    {"D0502", "is guarded by `settle = 1`, but every step needs it",
     [](Plan &plan) { // the report of the step before
       plan.programs[0].actions[first(plan, 0, Opcode::Report)].guard =
           plan.programs[0].cases[kSettles].condition;
     }},
    {"S0101", "no forward of stage 0, microbatch 0 runs",
     [](Plan &plan) { // the warm-up runs again, but for one task
       drop(plan, 0, indexIn(plan, 0, kRedoes, Opcode::Forward));
     }},
    {"S0106", "`report` runs once in an iteration of loop 0, not 2 times",
     [](Plan &plan) { drop(plan, 0, indexIn(plan, 0, kSettles, Opcode::Report)); }},
    {"S0202", "needs the destination of gather",
     [](Plan &plan) { // reports the step before once more, with its own norm
       swap(plan, 0, indexIn(plan, 0, kSettles, Opcode::Report),
            indexIn(plan, 0, kSettles, Opcode::Clip));
       plan.programs[0]
           .operands[plan.programs[0].actions[first(plan, 0, Opcode::Report)].operands + 1] = 0;
     }},
    {"S0206", "which a bad verdict takes back",
     [](Plan &plan) { // computes again with the weights that were wrong
       swap(plan, 0, indexIn(plan, 0, kRedoes, Opcode::Redo),
            indexIn(plan, 0, kRedoes, Opcode::Forward));
     }},
    {"S0418", "runs before the verdict on the step before is known",
     [](Plan &plan) {
       move(plan, 1, first(plan, 1, Opcode::Backward), first(plan, 1, Opcode::Settle));
     }},
    {"S0419", "a step of rank 0 has no `clip` for a step that is settled at its own end",
     [](Plan &plan) { drop(plan, 0, indexIn(plan, 0, kSettles, Opcode::Clip)); }},
    {"S0419", "waits for the norm, though this plan commits early",
     [](Plan &plan) {
       Action &early = plan.programs[0].actions[first(plan, 0, Opcode::OptimizeEarly)];
       early.opcode = code(Opcode::Optimize);
       std::vector<std::uint32_t> &operands = plan.programs[0].operands;
       const std::uint32_t scalars =
           operands[plan.programs[0].actions[first(plan, 0, Opcode::Settle)].operands + 2];
       std::vector<std::uint32_t> own(operands.begin() + early.operands,
                                      operands.begin() + early.operands + 4);
       own.insert(own.begin() + 1, scalars);
       early.operands = static_cast<std::uint32_t>(operands.size());
       operands.insert(operands.end(), own.begin(), own.end());
     }},
    {"S0421", "a step of rank 0 does the step before not again for stage 0",
     [](Plan &plan) { drop(plan, 0, indexIn(plan, 0, kRedoes, Opcode::Redo)); }},
    {"S0421", "a step of rank 1 does its own step not again for stage 1",
     [](Plan &plan) { drop(plan, 1, indexIn(plan, 1, kSettles, Opcode::Redo)); }},
    {"S0421", "does a step again that may stand",
     [](Plan &plan) {
       plan.programs[0].actions[indexIn(plan, 0, kSettles, Opcode::Redo)].guard = 0;
     }},
    {"S0421", "does a step again before the verdict on it is known",
     [](Plan &plan) {
       swap(plan, 0, indexIn(plan, 0, kSettles, Opcode::Redo),
            indexIn(plan, 0, kSettles, Opcode::Clip));
     }},
    {"S0323", "decision 7 has no values, or one that it cannot have",
     [](Plan &plan) { plan.decisions.back().values.push_back(3); }},
};

TEST(EarlyCommits, EachRuleCanBeBroken) {
  for (const Break &one : kBreaks) {
    Plan plan = earlyPlan();
    one.change(plan);
    const std::string text = judged(plan);
    EXPECT_NE(text.find(std::string("error[") + one.code), std::string::npos)
        << one.code << " not in:\n"
        << text;
    EXPECT_NE(text.find(one.message), std::string::npos) << one.code << ":\n" << text;
  }
}

/// What settles a step has no place where none is settled later.
TEST(EarlyCommits, APlanWithABarrierSettlesNothing) {
  Plan plan = lowered({.microbatches = 3, .layers = 2});
  Program &program = plan.programs[0];
  Action settle = program.actions[first(plan, 0, Opcode::Clip)];
  const std::uint32_t header =
      program.operands[program.actions[first(plan, 0, Opcode::ScaleGradients)].operands];
  const std::vector<std::uint32_t> operands = {header, program.operands[settle.operands],
                                               program.operands[settle.operands + 1]};
  settle.opcode = code(Opcode::Settle);
  settle.operands = static_cast<std::uint32_t>(program.operands.size());
  settle.operandCount = 3;
  program.operands.insert(program.operands.end(), operands.begin(), operands.end());
  program.actions[first(plan, 0, Opcode::Clip)] = settle;
  const std::string text = judged(plan);
  EXPECT_NE(text.find("error[S0419]"), std::string::npos) << text;
  EXPECT_NE(text.find("stands where no step settles another one"), std::string::npos) << text;
}

} // namespace
} // namespace vime
