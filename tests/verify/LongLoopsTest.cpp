// Long loops: judged by a few of their trips, a plan is accepted or refused as if all of them were
// unrolled; and what makes trips differ is unrolled, or refused.
#include "compiler/Verify/LongLoops.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "compiler/Verify/Choices.h"
#include "compiler/Verify/Rules.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "schedules/Registry.h"
#include "tests/Interpreter/Interpreter.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {
namespace {

using namespace plan;
using namespace verify;

constexpr std::uint32_t kMicrobatches = 90;

struct Shape {
  const char *schedule = "1f1b";
  std::uint32_t chunks = 1;
  std::uint32_t advance = 1; // microbatches of a trip
};

/// Of GPipe a loop in each direction; of DualPipeV tasks in halves that its loop runs whole.
constexpr Shape kShapes[] = {{"1f1b"},
                             {"zb-h1"},
                             {"zb-v", 2},
                             {"gpipe"},
                             {"dualpipe-v", 2},
                             {"interleaved", 2, 2},
                             {"interleaved", 3, 2}};

Plan longPlan(const Shape &shape = {}) {
  return lowered({.schedule = shape.schedule,
                  .ranks = 2,
                  .microbatches = kMicrobatches * shape.advance,
                  .chunks = shape.chunks,
                  .layers = 6});
}

std::string nameOf(const Shape &shape) {
  return std::string(shape.schedule) + " with " + std::to_string(shape.chunks) + " chunks";
}

std::optional<LongLoops> longLoopsIn(const Plan &plan) {
  return longLoopsOf(plan, 0, plan.data.microbatches);
}

std::vector<std::uint32_t> from(std::uint32_t least, std::uint32_t most) {
  std::vector<std::uint32_t> values(most - least + 1);
  std::iota(values.begin(), values.end(), least);
  return values;
}

/// The verdict on every trip of every number of microbatches.
bool keepsRulesUnrolled(const Plan &plan) {
  Findings findings;
  Verdict verdict(plan, findings, "");
  if (!verifyIndicesInRange(plan, verdict))
    return false;
  auto counts = valuesOf(plan, Decision::Microbatches);
  const std::vector<std::uint32_t> one = {plan.data.microbatches};
  for (const std::uint32_t count : counts.empty() ? std::span(one) : counts) {
    Choice choice = choicesOf(plan).front();
    choice.values[static_cast<std::size_t>(Decision::Microbatches)] = counts.empty() ? 0 : count;
    choice.shortened.clear();
    choice.hidden = choice.hiddenEvaluated = 0;
    const ActionTable table(plan, choice);
    for (const ProvedRule &rule : provedRules())
      rule.judge(table, verdict);
  }
  return !verdict.any() && checkPlan(plan).ok();
}

TEST(LongLoops, AreJudgedByFewTrips) {
  for (const Shape &shape : kShapes) {
    SCOPED_TRACE(nameOf(shape));
    const Plan plan = longPlan(shape);
    const auto found = longLoopsIn(plan);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->loops.size(), std::string_view(shape.schedule) == "gpipe" ? 2u : 1u);
    EXPECT_EQ(found->advance, shape.advance);
    EXPECT_LT(found->enough, 60u);
    std::uint32_t least = kMicrobatches;
    for (const Loop *loop : found->loops)
      least = std::min(least, loop->trips);
    const Choice choice = choicesOf(plan).front();
    EXPECT_EQ(choice.shortened.size(), found->loops.size());
    EXPECT_EQ(choice.hidden, (least - found->enough) * shape.advance);
    EXPECT_EQ(judged(plan), "");
    EXPECT_TRUE(keepsRulesUnrolled(plan));
  }
}

/// Whatever order it is: what the lowering folds is long.
TEST(LongLoops, AreThoseOfEveryOrderThatRepeats) {
  std::size_t folded = 0;
  for (const Order &order : allOrders())
    for (const std::uint32_t ranks : {2u, 4u}) {
      const std::uint32_t microbatches = 100 * ranks;
      const ScheduleShape shape =
          shapeFor(order, static_cast<int>(ranks), static_cast<int>(microbatches));
      if (!order.trains || check(order, shape))
        continue;
      const Plan plan = lowered({.schedule = std::string(order.name),
                                 .ranks = ranks,
                                 .microbatches = microbatches,
                                 .chunks = static_cast<std::uint32_t>(shape.chunks)});
      if (plan.programs[0].loops.size() == 1)
        continue;
      ++folded;
      EXPECT_TRUE(longLoopsIn(plan)) << order.name << " on " << ranks << " ranks";
    }
  EXPECT_GT(folded, 10u);
}

TEST(LongLoops, ManyNumbersOfMicrobatchesAreFewChoices) {
  const Plan plan = lowered({.ranks = 2, .microbatches = 500, .layers = 4, .family = from(1, 500)});
  EXPECT_LT(choicesOf(plan).size(), 60u);
  EXPECT_EQ(judged(plan), "");
}

struct Difference {
  const char *what;
  void (*make)(Plan &);
};

Loop &loopOf(Plan &plan, std::uint32_t rank) { return plan.programs[rank].loops.back(); }

/// What is not one loop on all ranks, whose trips differ in nothing, is unrolled.
TEST(LongLoops, TripsThatDifferAreUnrolled) {
  const Difference differences[] = {
      {"a rank with another period", [](Plan &plan) { ++loopOf(plan, 1).period; }},
      {"a rank with other trips", [](Plan &plan) { --loopOf(plan, 1).trips; }},
      {"an action that does not advance",
       [](Plan &plan) { plan.programs[0].actions[loopOf(plan, 0).begin].step = 0; }},
      {"an action behind the loop that does not advance",
       [](Plan &plan) { plan.programs[0].actions[loopOf(plan, 0).end].step = 0; }},
      {"an action in front of it that is of a later microbatch",
       [](Plan &plan) { plan.programs[0].actions[loopOf(plan, 0).begin - 1].microbatch = 60; }},
      {"a ring that shares bytes",
       [](Plan &plan) {
         for (Buffer &buffer : plan.layouts[1].buffers)
           if (buffer.kind == BufferKind::Input)
             buffer.offset -= kBufferAlignment;
       }},
      {"no case",
       [](Plan &plan) {
         for (Program &program : plan.programs)
           program.cases.clear();
       }},
  };
  for (const auto &[what, make] : differences) {
    Plan plan = longPlan();
    make(plan);
    EXPECT_FALSE(longLoopsIn(plan)) << what;
  }
}

/// Changes something in a loop or beside it.
class Change {
public:
  Change(Plan &plan, std::uint32_t seed) : plan(plan), random(seed) {}

  void apply() {
    Program &program = plan.programs[below(plan.programs.size())];
    Action &action = program.actions[below(program.actions.size())];
    Wait &wait = action.waits[below(2)];
    Loop &loop = program.loops[1 + below(program.loops.size() - 1)]; // over microbatches
    std::vector<Buffer> &buffers = plan.layouts[&program - plan.programs.data()].buffers;
    const int sign = random() % 2 ? 1 : -1;
    switch (below(16)) {
    case 0:
    case 1:
      wait = Wait();
      break;
    case 2:
    case 3:
      wait = wait.empty() || wait.distance() + sign < 1
                 ? Wait()
                 : Wait::on(wait.lane(), wait.distance() + sign);
      break;
    case 4:
    case 5: {
      Buffer &buffer = buffers[below(buffers.size())];
      buffer.count = std::max(1, static_cast<int>(buffer.count) + sign);
      break;
    }
    case 6:
      action.microbatch += action.microbatch + sign < plan.data.microbatches ? sign : 0;
      break;
    case 7:
      action.time += sign;
      break;
    case 8:
      loop.trips += sign;
      break;
    case 9:
      loop.period += sign;
      break;
    case 10:
      std::swap(action,
                program.actions[(&action - program.actions.data() + 1) % program.actions.size()]);
      break;
    case 11:
      loop.start += sign;
      break;
    case 13:
      wait = Wait::on(below(program.lanes.size()), 1 + below(2 * kMicrobatches));
      break;
    case 14:
      resize(program, plan.layouts[&program - plan.programs.data()]);
      break;
    case 12:
      action.lane = static_cast<std::uint8_t>(below(program.lanes.size()));
      break;
    default:
      program.operands[action.operands] = below(buffers.size());
    }
  }

private:
  /// Another number of slots, in a layout without overlaps; who uses the ring may forget to wait
  /// until it comes round, which shows late.
  void resize(Program &program, Layout &layout) {
    const std::uint32_t resized = below(layout.buffers.size()), lane = below(program.lanes.size());
    layout.buffers[resized].count = 1 + below(kMicrobatches / 2);
    layout.arena = {};
    for (Buffer &buffer : layout.buffers) {
      std::uint64_t &end = layout.arena[static_cast<std::size_t>(buffer.tier)];
      buffer.offset = (end + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
      end = buffer.offset + buffer.extent();
    }
    const bool forgets = random() % 2 != 0;
    for (Action &action : program.actions)
      for (std::uint32_t place = 0; place < action.operandCount && forgets; ++place)
        if (program.operands[action.operands + place] == resized)
          for (Wait &wait : action.waits)
            if (!wait.empty() && wait.lane() == static_cast<int>(lane))
              wait = Wait();
  }

  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random() % count); }

  Plan &plan;
  std::mt19937 random;
};

constexpr std::uint32_t kSeeds = 700; // of each shape

/// The heart of it: whatever is changed, few trips say what all of them say.
TEST(LongLoops, AVerdictOnFewTripsIsTheVerdictOnAll) {
  int refused = 0, kept = 0, shortened = 0;
  for (const Shape &shape : kShapes) {
    const Plan right = longPlan(shape);
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      Plan plan = right;
      Change(plan, seed).apply();
      if (seed % 3 == 0)
        Change(plan, ~seed).apply();
      if (plan == right)
        continue;
      const bool keeps = codesOf(plan).empty();
      ++(keeps ? kept : refused);
      Findings findings;
      Verdict verdict(plan, findings, "");
      shortened += verifyIndicesInRange(plan, verdict) && longLoopsIn(plan);
      EXPECT_EQ(keeps, keepsRulesUnrolled(plan)) << nameOf(shape) << ", seed " << seed;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(kept, 50);
  EXPECT_GT(shortened, 500); // else it would prove nothing
}

TEST(LongLoops, AVerdictOnAFamilyIsTheVerdictOnEachMember) {
  const Plan right = lowered({.ranks = 2, .microbatches = 60, .layers = 2, .family = from(6, 60)});
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Plan plan = right;
    Change(plan, seed).apply();
    const bool keeps = codesOf(plan).empty();
    refused += !keeps;
    EXPECT_EQ(keeps, keepsRulesUnrolled(plan)) << "seed " << seed;
  }
  EXPECT_GT(refused, 20);
}

/// Steps of 50 or 60 microbatches, of which the loop runs fewer or more.
Plan countedPlan() { return lowered({.ranks = 2, .microbatches = 60, .family = {50, 60}}); }

TEST(LongLoops, TripsAreDecidedBeforeTheLoop) {
  Plan plan = countedPlan();
  Action &header = plan.programs[1].actions[indexOfAction(plan, 1, "broadcast `step`")];
  header.opcode = code(Opcode::Join);
  header.lane = 0;
  header.operandCount = 0;
  const std::string said = judged(plan);
  EXPECT_NE(said.find("error[D0101]: the loop at backward, stage 1"), std::string::npos) << said;
  EXPECT_NE(said.find("asks for `microbatches`, which has not arrived by then"), std::string::npos)
      << said;
}

TEST(LongLoops, TripsAreThereForEveryStep) {
  Plan plan = countedPlan();
  loopOf(plan, 1).perTrip = 7;
  EXPECT_EQ(codesOf(plan), "S0323");
  plan = countedPlan();
  plan.programs[0].cases.clear();
  EXPECT_EQ(codesOf(plan), "S0323");
  plan = countedPlan();
  loopOf(plan, 0).perTrip = 2;                    // five trips less on rank 0, ten on rank 1
  EXPECT_EQ(codesOf(plan).substr(0, 5), "S0105"); // microbatches that the step does not have
}

/// Without leaving out a trip: each number of microbatches is run, one after the other.
TEST(LongLoops, TheInterpreterRunsThemWhateverTheSchedule) {
  for (const std::vector<std::uint32_t> &family :
       {std::vector<std::uint32_t>{}, std::vector<std::uint32_t>{9, 20},
        std::vector<std::uint32_t>{2, 8, 12, 20}}) {
    const Plan plan = lowered({.ranks = 2, .microbatches = 20, .layers = 2, .family = family});
    EXPECT_EQ(judged(plan), "");
    const std::uint32_t courses = interpreter::coursesOf(plan);
    const interpreter::Verdict verdict = interpreter::judge(plan, courses);
    EXPECT_EQ(verdict.fault, interpreter::Fault::None) << verdict.text;
    for (std::uint32_t seed = 1; seed < 4; ++seed)
      EXPECT_EQ(interpreter::wander(plan, seed % courses, seed).fault, interpreter::Fault::None)
          << seed;
  }
}

} // namespace
} // namespace vime
