// One random change of a plan that keeps every rule: the judges refuse it, or it is harmless, as
// the interpreter says.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"
#include "tests/verify/Interpreter.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;

/// Changes one thing; false if there was nothing to change.
class Mutation {
public:
  Mutation(Plan &plan, std::uint32_t seed) : plan(plan), random(seed) {}

  std::string apply() {
    constexpr std::array kChanges = {
        &Mutation::dropWait,      &Mutation::changeDistance, &Mutation::changeWaitLane,
        &Mutation::swapActions,   &Mutation::swapInPlace,    &Mutation::changeMicrobatch,
        &Mutation::changeOperand, &Mutation::changeLane,     &Mutation::changeImmediate,
        &Mutation::changeCount,   &Mutation::moveBuffer,     &Mutation::changeMessage,
        &Mutation::changePeer,    &Mutation::removeAction,   &Mutation::repeatAction,
        &Mutation::changeGroup,   &Mutation::changeLoop,     &Mutation::changeTime,
        &Mutation::changeStage,   &Mutation::changeOpcode,   &Mutation::changeBytes,
    };
    program = &plan.programs[random() % plan.programs.size()];
    layout = &plan.layouts[program - plan.programs.data()];
    return (this->*kChanges[random() % kChanges.size()])();
  }

private:
  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random() % count); }
  Action &anyAction() {
    where = below(program->actions.size());
    return program->actions[where];
  }
  std::string at(std::string what) const {
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      if (programOf(plan, rank) == program)
        return what + " at rank " + std::to_string(rank) + ", action " + std::to_string(where) +
               ": " + describe(plan, rank, where);
    return what;
  }
  Wait *anyWait() {
    std::vector<Wait *> waits;
    for (Action &action : program->actions)
      for (Wait &wait : action.waits)
        if (!wait.empty())
          waits.push_back(&wait);
    Wait *wait = waits[random() % waits.size()];
    for (where = 0; &program->actions[where] + 1 <= reinterpret_cast<Action *>(wait);)
      ++where;
    return wait;
  }

  std::string dropWait() {
    anyWait()->word = 0;
    return at("wait dropped");
  }
  std::string changeDistance() {
    Wait *wait = anyWait();
    const int distance = wait->distance() + (random() % 2 ? 1 : -1);
    *wait = distance > 0 ? Wait::on(wait->lane(), distance) : Wait();
    return at("distance changed");
  }
  std::string changeWaitLane() {
    Wait *wait = anyWait();
    *wait = Wait::on(static_cast<int>(below(program->lanes.size())), wait->distance());
    return at("wait moved");
  }
  /// Times stay where they are.
  std::string swapActions() {
    Action &one = anyAction();
    if (where + 1 == program->actions.size())
      return "";
    Action &other = program->actions[where + 1];
    std::swap(one, other);
    std::swap(one.time, other.time);
    return at("swapped with the next");
  }
  std::string swapInPlace() {
    Action &one = anyAction();
    std::swap(one, program->actions[below(program->actions.size())]);
    return at("swapped with any");
  }
  std::string changeMicrobatch() {
    anyAction().microbatch = below(plan.data.microbatches);
    return at("microbatch changed");
  }
  std::string changeOperand() {
    const Action &action = anyAction();
    if (action.operandCount == 0)
      return "";
    const std::uint32_t index = below(action.operandCount);
    std::uint32_t &operand = program->operands[action.operands + index];
    operand = random() % 8 == 0 ? kNoBuffer : below(layout->buffers.size());
    const std::string buffer =
        operand == kNoBuffer ? "none" : std::string(wordOf(layout->buffers[operand].kind));
    return at("operand " + std::to_string(index) + " is " + buffer);
  }
  std::string changeLane() {
    anyAction().lane = static_cast<std::uint8_t>(below(program->lanes.size()));
    return at("lane changed");
  }
  std::string changeImmediate() {
    anyAction().immediate ^= kOverwriteGradients;
    return at("immediate changed");
  }
  std::string changeCount() {
    Buffer &buffer = layout->buffers[below(layout->buffers.size())];
    buffer.count = std::max(1, static_cast<int>(buffer.count) + (random() % 2 ? 1 : -1));
    return "count of " + std::string(wordOf(buffer.kind)) + " is " + std::to_string(buffer.count);
  }
  std::string moveBuffer() {
    Buffer &buffer = layout->buffers[below(layout->buffers.size())];
    buffer.offset = layout->buffers[below(layout->buffers.size())].offset;
    return std::string(wordOf(buffer.kind)) + " moved";
  }
  std::string changeMessage() {
    Lane &lane = program->lanes[below(program->lanes.size())];
    std::uint32_t &bytes = random() % 2 ? lane.message.fixed : lane.message.perToken;
    bytes = random() % 2 ? bytes / 2 : bytes + 8;
    return "message changed";
  }
  std::string changePeer() {
    Lane &lane = program->lanes[below(program->lanes.size())];
    if (random() % 2)
      lane.peer.value = static_cast<int>(below(plan.mesh.ranks())) - (random() % 2 ? 1 : 0);
    else
      lane.flow = static_cast<Flow>(below(6));
    return "peer changed";
  }
  std::string removeAction() {
    anyAction();
    std::string text = at("removed");
    program->actions.erase(program->actions.begin() + where);
    for (Loop &loop : program->loops) {
      loop.begin -= where < loop.begin;
      loop.end -= where < loop.end;
    }
    return text;
  }
  std::string repeatAction() {
    const Action action = anyAction();
    program->actions.insert(program->actions.begin() + where, action);
    for (Loop &loop : program->loops) {
      loop.begin += where < loop.begin;
      loop.end += where < loop.end;
    }
    return at("repeated");
  }
  std::string changeGroup() {
    Group &group = plan.groups[below(plan.groups.size())];
    if (random() % 2)
      group.root = below(plan.mesh.ranks());
    else
      group.message.fixed = random() % 2 ? group.message.fixed / 2 : group.message.fixed + 8;
    return "group " + group.name + " changed";
  }
  std::string changeLoop() {
    Loop &loop = program->loops[below(program->loops.size())];
    switch (below(4)) {
    case 0:
      ++loop.trips;
      break;
    case 1:
      ++loop.begin;
      break;
    case 2:
      --loop.end;
      break;
    default:
      --loop.period;
    }
    return "loop changed";
  }
  std::string changeTime() {
    anyAction().time += random() % 2 ? 1 : -1;
    return at("time changed");
  }
  std::string changeStage() {
    anyAction().stage = static_cast<std::uint16_t>(below(program->stages.size()));
    return at("stage changed");
  }
  std::string changeOpcode() {
    Action &action = anyAction();
    action.opcode = code(signatures()[below(signatures().size())].opcode);
    return at("opcode changed");
  }
  std::string changeBytes() {
    Buffer &buffer = layout->buffers[below(layout->buffers.size())];
    buffer.bytes += random() % 2 ? 8 : -8;
    return "bytes of " + std::string(wordOf(buffer.kind)) + " changed";
  }

  Plan &plan;
  std::mt19937 random;
  Program *program = nullptr;
  Layout *layout = nullptr;
  std::uint32_t where = 0;
};

struct Tally {
  int refused = 0, harmless = 0;
};

void judgeMutants(const Plan &right, std::uint32_t mutants, std::uint32_t schedules, Tally &tally) {
  ASSERT_EQ(judged(right), "");
  const Outcome wanted = interpret(right, 0);
  ASSERT_EQ(wanted.trouble, "");
  for (std::uint32_t seed = 1; seed <= mutants; ++seed) {
    Plan mutant = right;
    const std::string what = Mutation(mutant, seed).apply();
    if (what.empty() || mutant == right)
      continue;
    if (!codesOf(mutant).empty()) {
      ++tally.refused;
      continue;
    }
    ++tally.harmless;
    EXPECT_TRUE(finishesInLockstep(mutant)) << "seed " << seed << ": " << what;
    for (std::uint32_t schedule = 0; schedule < schedules; ++schedule) {
      const Outcome outcome = interpret(mutant, schedule);
      ASSERT_EQ(outcome.trouble, "") << "seed " << seed << ": " << what;
      ASSERT_EQ(outcome.reports, wanted.reports) << "seed " << seed << ": " << what;
    }
  }
}

TEST(Mutation, TheInterpreterAgreesWithItselfWhateverTheSchedule) {
  for (const Plan &plan :
       {smallPlan({.exportTo = "model"}),
        lowered(
            {.schedule = "interleaved", .ranks = 2, .microbatches = 4, .chunks = 2, .layers = 4}),
        lowered({.schedule = "zb-h1", .ranks = 2, .microbatches = 3, .layers = 2}),
        lowered({.microbatches = 3, .layers = 2, .family = {2, 3}, .evaluates = 4}),
        lowered({.ranks = 2, .microbatches = 2, .layers = 2, .exportTo = "out", .replicas = 3})}) {
    const Outcome first = interpret(plan, 0);
    EXPECT_EQ(first.trouble, "");
    EXPECT_TRUE(finishesInLockstep(plan));
    for (std::uint32_t seed = 1; seed < 8; ++seed)
      EXPECT_TRUE(interpret(plan, seed) == first) << seed;
  }
}

TEST(Mutation, SmallPlan) {
  Tally tally;
  judgeMutants(smallPlan({.exportTo = "model"}), 2000, 12, tally);
  EXPECT_GT(tally.refused, 1000);
  EXPECT_GT(tally.harmless, 50); // else it would prove nothing
}

TEST(Mutation, SeveralStagesOnARank) {
  Tally tally;
  judgeMutants(
      lowered({.schedule = "interleaved", .ranks = 2, .microbatches = 4, .chunks = 2, .layers = 4}),
      150, 4, tally);
  EXPECT_GT(tally.refused, 80);
}

TEST(Mutation, Replicas) {
  Tally tally;
  judgeMutants(lowered({.ranks = 2, .microbatches = 2, .layers = 2, .replicas = 3}), 300, 4, tally);
  EXPECT_GT(tally.refused, 160);
}

TEST(Mutation, SplitBackward) {
  Tally tally;
  judgeMutants(lowered({.schedule = "zb-h1", .ranks = 2, .microbatches = 3, .layers = 2}), 150, 4,
               tally);
  EXPECT_GT(tally.refused, 80);
}

/// Steps of two lengths and evaluations between them; the interpreter goes from one to the other.
TEST(Mutation, StepsThatVary) {
  Tally tally;
  judgeMutants(lowered({.microbatches = 3, .layers = 2, .family = {2, 3}, .evaluates = 4}), 300, 4,
               tally);
  EXPECT_GT(tally.refused, 150);
  EXPECT_GT(tally.harmless, 5); // else it would prove nothing
}

/// Replicas that share short steps and evaluations; some of their microbatches are empty.
TEST(Mutation, StepsThatVaryInReplicas) {
  Tally tally;
  judgeMutants(lowered({.ranks = 1,
                        .microbatches = 2,
                        .layers = 2,
                        .family = {1, 2},
                        .evaluates = 3,
                        .replicas = 2}),
               200, 4, tally);
  EXPECT_GT(tally.refused, 100);
}

} // namespace
} // namespace vime
