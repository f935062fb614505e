// Loops over microbatches: what a folded pass runs, unrolled, is what the clock lists, for every
// order; a program with loops does not grow with the number of microbatches; and the judges accept
// it for one number as for many.
#include "compiler/Lowering/FoldPass.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Lowering/PassWriter.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "schedules/ForwardOnly.h"
#include "schedules/MergeBackwards.h"
#include "schedules/Placement.h"
#include "schedules/Registry.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using namespace plan;

Schedule orderOf(const Order &order, int ranks, int microbatches) {
  return order.build({ranks, microbatches, order.chunks.usual});
}

/// The programs of one pass.
Plan programsOf(const Schedule &order, const FoldedClock &folded, Pass pass = Pass::Train) {
  Plan plan;
  plan.mesh.pipeline = static_cast<std::uint32_t>(order.rows.size());
  std::vector<std::uint32_t> chunkOf(order.placement.size()), held(order.rows.size(), 0);
  for (std::size_t stage = 0; stage < chunkOf.size(); ++stage)
    chunkOf[stage] = held[order.placement[stage]]++;
  ProgramWriter programs(plan);
  programs.beginLoop(/*id=*/0, /*trips=*/2);
  const Message boundary{.type = DataType::Float32, .perToken = 4};
  PassWriter({order.placement, static_cast<std::uint32_t>(depthOf(order)), chunkOf, boundary,
              plan.mesh.pipeline, /*replicas=*/1,
              /*fillsUp=*/true},
             programs)
      .write(folded, pass, /*loop=*/1, /*isDecided=*/false);
  programs.endLoop();
  return plan;
}

/// All that says what an action does, but when.
using Done = std::tuple<std::uint16_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint16_t,
                        std::uint8_t>;

std::vector<Done> unrolled(const Program &program) {
  std::vector<Done> done;
  for (const Stretch &stretch : stretchesOf(program))
    for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
      for (std::uint32_t index = stretch.begin; index < stretch.end; ++index) {
        const Action &action = program.actions[index];
        done.emplace_back(action.opcode, action.lane, action.stage,
                          stretch.microbatchOf(action, iteration), action.immediate, action.flags);
      }
  return done;
}

/// Of all ranks.
std::size_t actionsOf(const Plan &plan) {
  return std::accumulate(
      plan.programs.begin(), plan.programs.end(), std::size_t{0},
      [](std::size_t sum, const Program &program) { return sum + program.actions.size(); });
}

/// Whether it has loops at all.
bool expectSameWhenUnrolled(const Schedule &order, int microbatches, Pass pass = Pass::Train) {
  const auto folded = foldedPass(order, microbatches, Folding::WherePossible);
  const auto flat = unfolded(*layClock(order, microbatches));
  const Plan loops = programsOf(order, *folded, pass), straight = programsOf(order, flat, pass);
  for (std::size_t rank = 0; rank < loops.programs.size(); ++rank)
    EXPECT_EQ(unrolled(loops.programs[rank]), unrolled(straight.programs[rank])) << rank;
  return folded->hasLoops();
}

TEST(Fold, UnrolledItIsTheClockOfEveryOrder) {
  int folds = 0;
  for (const Order &order : trainingOrders())
    for (const int ranks : {1, 2, 3, 4, 8})
      for (const int microbatches : {1, 2, 3, 5, 8, 16, 24, 64, 100, 600}) {
        if (check(order, {ranks, microbatches, order.chunks.usual}))
          continue;
        SCOPED_TRACE(testing::Message()
                     << order.name << " ranks " << ranks << " microbatches " << microbatches);
        folds += expectSameWhenUnrolled(orderOf(order, ranks, microbatches), microbatches);
        if (testing::Test::HasFailure())
          return;
      }
  EXPECT_GT(folds, 100);
}

/// What is merged repeats as the order does, or a program would grow.
TEST(Fold, MergedBackwardsRepeatToo) {
  int folds = 0;
  for (const Order &order : trainingOrders())
    for (const int ranks : {2, 3, 4, 8})
      for (const int microbatches : {64, 120}) {
        if (check(order, {ranks, microbatches, order.chunks.usual}) || order.takes.costs)
          continue;
        const Schedule split = orderOf(order, ranks, microbatches);
        for (const UnitCosts costs : {UnitCosts{}, UnitCosts{10, 12, 8, 1}, UnitCosts{10, 8, 12}}) {
          SCOPED_TRACE(testing::Message() << order.name << " ranks " << ranks << " microbatches "
                                          << microbatches << " forward " << costs.forward);
          const Schedule merged = mergeBackwards(split, Merging::WhereItPays, costs);
          if (merged.rows == split.rows)
            continue;
          const auto kept = [&](const Schedule &one) {
            return countNodes(*foldedPass(one, microbatches, Folding::WherePossible)).kept;
          };
          EXPECT_LE(kept(merged), kept(split));
          folds += expectSameWhenUnrolled(merged, microbatches);
        }
      }
  EXPECT_GT(folds, 10);
}

TEST(Fold, UnrolledItIsTheClockOfAnEvaluation) {
  for (const int ranks : {1, 2, 4})
    for (const int microbatches : {1, 4, 50}) {
      const Schedule order =
          forwardOnly(linearPlacement({ranks, microbatches, 1}), ranks, microbatches);
      const bool hasLoops = expectSameWhenUnrolled(order, microbatches, Pass::Evaluate);
      EXPECT_EQ(hasLoops, microbatches > ranks);
    }
}

/// Microbatches that the loop of an order leaves to what is around it, and those of a trip.
std::pair<int, int> aroundLoop(std::string_view name, int ranks, int microbatches) {
  const auto folded = foldedPass(orderOf(*findOrder(name), ranks, microbatches), microbatches,
                                 Folding::WherePossible);
  if (!folded->hasLoops())
    return {microbatches, 0};
  const ClockPart &loop = folded->parts[1];
  return {microbatches - loop.advance * static_cast<int>(loop.trips), loop.advance};
}

TEST(Fold, OrdersSettleAfterAFewMicrobatchesPerRank) {
  for (const int ranks : {2, 4, 8, 16}) {
    for (const char *name : {"1f1b", "zb-h1", "zb-v"}) {
      const auto [around, advance] = aroundLoop(name, ranks, 20 * ranks);
      EXPECT_EQ(advance, 1) << name << ranks;
      EXPECT_LE(around, 6 * ranks) << name << ranks;
    }
    const auto [around, advance] = aroundLoop("interleaved", ranks, 20 * ranks);
    EXPECT_EQ(advance, ranks);
    EXPECT_LE(around, 6 * ranks) << ranks;
  }
}

TEST(Fold, LongOrdersAreSimulatedWithFewMicrobatches) {
  for (const char *name : {"1f1b", "zb-h1", "zb-v", "interleaved"})
    for (const int ranks : {1, 2, 4}) {
      constexpr int kMicrobatches = 4000;
      const Schedule order = orderOf(*findOrder(name), ranks, kMicrobatches);
      const auto few = foldedPass(order, kMicrobatches, Folding::WherePossible);
      const auto all = foldClock(*layClock(order, kMicrobatches),
                                 static_cast<int>(order.placement.size()), kMicrobatches);
      EXPECT_LT(few->clock.nodes.size(), all.clock.nodes.size() / 4) << name << ranks;
      EXPECT_EQ(few->parts[1].trips, all.parts[1].trips) << name << ranks;
      EXPECT_EQ(few->clock.makespan, all.clock.makespan) << name << ranks;
      EXPECT_EQ(few->clock.busy, all.clock.busy) << name << ranks;
      EXPECT_DOUBLE_EQ(few->clock.bubble, all.clock.bubble) << name << ranks;
      EXPECT_TRUE(programsOf(order, *few).programs == programsOf(order, all).programs)
          << name << ranks;
    }
}

TEST(Fold, GPipeHasALoopInEachDirection) {
  const auto folded = foldedPass(orderOf(*findOrder("gpipe"), 4, 200), 200, Folding::WherePossible);
  ASSERT_EQ(folded->parts.size(), 5u);
  EXPECT_TRUE(folded->shrinks);
  EXPECT_TRUE(folded->covers(100));
  const CountedNodes nodes = countNodes(*folded);
  EXPECT_EQ(nodes.all, folded->clock.nodes.size());
  EXPECT_LT(nodes.kept, nodes.all / 10);
}

TEST(Fold, AnOrderWithoutAPeriodStaysFlat) {
  constexpr int kMicrobatches = 60;
  std::vector<int> back(kMicrobatches);
  std::iota(back.begin(), back.end(), 0);
  std::shuffle(back.begin(), back.end(), std::mt19937(7));
  Schedule order{{0}, {{}}};
  for (int microbatch = 0; microbatch < kMicrobatches; ++microbatch)
    order.rows[0].push_back({TaskKind::Forward, 0, microbatch});
  for (const int microbatch : back)
    order.rows[0].push_back({TaskKind::Backward, 0, microbatch});
  EXPECT_FALSE(foldedPass(order, kMicrobatches, Folding::WhereWorthwhile)->hasLoops());
  // Forwards alone repeat, but a pass with fewer of them would need other backwards.
  const auto folded = foldedPass(order, kMicrobatches, Folding::WherePossible);
  EXPECT_FALSE(folded->covers(1));
  EXPECT_TRUE(folded->covers(0));
}

TEST(Fold, AProgramDoesNotGrowWithTheNumberOfMicrobatches) {
  for (const char *name :
       {"gpipe", "1f1b", "zb-h1", "zb-v", "interleaved", "chimera", "dualpipe"}) {
    const JobShape shape{.schedule = name,
                         .ranks = 4,
                         .microbatches = 200,
                         .chunks = static_cast<std::uint32_t>(findOrder(name)->chunks.usual)};
    JobShape longer = shape;
    longer.microbatches = 1000;
    EXPECT_EQ(actionsOf(lowered(shape)), actionsOf(lowered(longer))) << name;
  }
  JobShape sliced{.schedule = "seq1f1b", .ranks = 4, .microbatches = 200, .slices = 4};
  const std::size_t actions = actionsOf(lowered(sliced));
  sliced.microbatches = 1000;
  EXPECT_EQ(actions, actionsOf(lowered(sliced)));
}

std::string judgedPlan(const Plan &plan) {
  Findings findings;
  verifyPlan(plan, findings);
  SourceCache sources;
  return renderText(findings, sources);
}

TEST(Fold, LoopsKeepEveryRule) {
  for (const Order &order : trainingOrders())
    for (const std::uint32_t ranks : {1u, 2u, 4u})
      for (const std::uint32_t microbatches : {40u, 200u}) {
        if (check(order,
                  {static_cast<int>(ranks), static_cast<int>(microbatches), order.chunks.usual}))
          continue;
        SCOPED_TRACE(testing::Message()
                     << order.name << " ranks " << ranks << " microbatches " << microbatches);
        EXPECT_EQ(judgedPlan(lowered({.schedule = std::string(order.name),
                                      .ranks = ranks,
                                      .microbatches = microbatches,
                                      .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                                      .evaluates = microbatches + 9})),
                  "");
      }
}

/// Whether the first loop over microbatches lies in a case.
bool isInCase(const Plan &plan) {
  const Program &program = plan.programs[0];
  return std::any_of(program.cases.begin(), program.cases.end(), [&](const Case &one) {
    return one.begin <= program.loops[1].begin && program.loops[1].end <= one.end;
  });
}

/// The edge of a case would wait for the file that the step before writes.
TEST(Fold, BesideCheckpointsOnlyLongLoopsAreACase) {
  const Plan few = lowered({.microbatches = 200, .saves = true});
  EXPECT_FALSE(isInCase(few));
  EXPECT_EQ(judgedPlan(few), "");
  const Plan many = lowered({.microbatches = 300'000, .saves = true});
  EXPECT_TRUE(isInCase(many));
  EXPECT_EQ(judgedPlan(many), "");
}

std::vector<std::uint32_t> from(std::uint32_t least, std::uint32_t most) {
  std::vector<std::uint32_t> values(most - least + 1);
  std::iota(values.begin(), values.end(), least);
  return values;
}

TEST(Fold, AllNumbersOfMicrobatchesFromOneOnAreOneProgram) {
  const Plan plan = lowered({.ranks = 2, .microbatches = 60, .family = from(1, 60)});
  EXPECT_EQ(judgedPlan(plan), "");
  for (const Program &program : plan.programs) {
    EXPECT_LT(program.cases.size(), 8u);
    const Case &several = program.cases.back();
    EXPECT_EQ(describeCondition(plan, several.condition),
              "microbatches ≥ " + std::to_string(program.cases.size()));
    EXPECT_EQ(program.loops.back().perTrip, 1u);
  }
}

TEST(Fold, AFamilyThatOneProgramServesHasACaseThatAlwaysRuns) {
  const Plan plan = lowered({.ranks = 2, .microbatches = 60, .family = {50, 60}});
  EXPECT_EQ(judgedPlan(plan), "");
  for (const Program &program : plan.programs) {
    ASSERT_EQ(program.cases.size(), 1u);
    EXPECT_EQ(program.cases[0].condition, 0);
  }
  EXPECT_EQ(valuesOf(plan, Decision::Microbatches).size(), 2u);
}

TEST(Fold, FamiliesOfEveryOrderKeepEveryRule) {
  for (const Order &order : trainingOrders()) {
    const std::uint32_t ranks = 3, microbatches = 36;
    if (check(order, {ranks, microbatches, order.chunks.usual}))
      continue;
    for (const auto &family : {std::vector<std::uint32_t>{27, 36}, from(30, 36)}) {
      const Plan plan = lowered({.schedule = std::string(order.name),
                                 .ranks = ranks,
                                 .microbatches = microbatches,
                                 .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                                 .layers = 12,
                                 .family = family,
                                 .evaluates = 40});
      EXPECT_EQ(judgedPlan(plan), "") << order.name;
    }
  }
}

} // namespace
} // namespace vime
