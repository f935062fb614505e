// A round is its rollout and its steps; a bubble is of ranks that train while they have to.
#include "compiler/Analysis/Causes.h"
#include "compiler/Analysis/OrderFacts.h"
#include "compiler/Analysis/Predict.h"
#include "compiler/Analysis/RoundQuantiles.h"
#include "compiler/Analysis/RoundTimes.h"

#include "runtime/Data/Packing.h"
#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

using plan::Opcode;

plan::Plan withRounds(std::uint32_t steps) {
  return lowered({.schedule = "1f1b",
                  .ranks = 4,
                  .microbatches = 8,
                  .layers = 4,
                  .engines = 2,
                  .stepsOfRound = steps});
}

/// 1F1B on 4 ranks with 8 microbatches: 33 units, of which 24 are work. One engine generates for 7
/// units, the other one for 5; a score takes 2.
Durations durationsOf(const plan::Plan &plan) {
  Durations durations = unitDurations(plan);
  durations.generation = {7 * kUnit, 5 * kUnit};
  durations.ofRank[Opcode::Score] = 2 * kUnit;
  return durations;
}

TEST(Rounds, ConsistOfRolloutAndSteps) {
  const plan::Plan plan = withRounds(3);
  const RoundTimes round = simulatedRound(plan, durationsOf(plan));
  EXPECT_EQ(round.steps, 3u);
  EXPECT_EQ(round.rollout.sync, 0);
  EXPECT_EQ(round.rollout.generation, 7 * kUnit);
  EXPECT_EQ(round.rollout.scoring, 2 * kUnit);
  EXPECT_EQ(round.rollout.rest, 0);
  EXPECT_EQ(round.training, 3 * 33 * kUnit);
  EXPECT_EQ(round.period, 108 * kUnit);
  EXPECT_NEAR(round.bubble, 9. / 33, 1e-9);
  EXPECT_EQ(round.trainers.ranks, 4);
  EXPECT_EQ(round.trainers.busy, 4 * 72 * kUnit);
  EXPECT_EQ(round.trainers.idle, 4 * 27 * kUnit);
  EXPECT_EQ(round.trainers.other, 4 * 9 * kUnit);
  EXPECT_EQ(round.engines.ranks, 2);
  EXPECT_EQ(round.engines.busy, 12 * kUnit);
  EXPECT_EQ(round.engines.other, (2 * 108 - 12) * kUnit);
}

TEST(Rounds, OfOneStepHaveNoOtherSteps) {
  const plan::Plan plan = withRounds(1);
  EXPECT_EQ(simulatedRound(plan, durationsOf(plan)).period, 42 * kUnit);
}

TEST(Rounds, AStepThatBeginsOneIsItsParts) {
  const plan::Plan plan = withRounds(2);
  const verify::ActionTable table(plan, stepOf(plan, {}));
  ASSERT_TRUE(beginsRound(table));
  const Simulated run = simulate(table, durationsOf(plan));
  const StepReport report = reportOf(table, run);
  EXPECT_EQ(report.period, 42 * kUnit);
  EXPECT_EQ(report.rollout.all(), 9 * kUnit);
  EXPECT_NEAR(report.bubble, 9. / 33, 1e-9);
  for (const RankReport &rank : report.ranks)
    EXPECT_EQ(rank.busy + rank.idle.all(), report.period) << rank.rank;
  EXPECT_EQ(report.ranks[4].busy, 7 * kUnit);
  EXPECT_TRUE(report.ranks[4].isEngine);
  std::int64_t sum = 0, rollout = 0;
  for (const Cause &cause : causesOf(table, run, report)) {
    sum += cause.time;
    rollout += cause.kind == CauseKind::Rollout ? cause.time : 0;
  }
  EXPECT_EQ(sum, report.period);
  EXPECT_EQ(rollout, 9 * kUnit);
}

/// A link of a nanosecond a byte: an engine takes the weights while all others wait.
TEST(Rounds, WeightsGoByTheirBytes) {
  const plan::Plan plan = withRounds(2);
  Durations durations = durationsOf(plan);
  durations.near.perByte = 1;
  const RoundTimes round = simulatedRound(plan, durations);
  EXPECT_GT(round.rollout.sync, 0);
  EXPECT_EQ(round.engines.sync, 2 * round.rollout.sync);
}

/// The run shows the bubble of the part that trains, and so does the plan.
TEST(Rounds, APlanForetellsWhatTrains) {
  plan::Plan plan = withRounds(2);
  predict(plan, durationsOf(plan), "units");
  EXPECT_NEAR(plan.predictions.expectedBubble, 9. / 33, 1e-9);
  EXPECT_NEAR(plan.predictions.stepSeconds, 33e-3, 1e-9);
}

/// Each length as often as it may come, by one dice; what is drawn does not change.
TEST(Rounds, AreDrawn) {
  const plan::Plan plan = withRounds(2);
  const Durations durations = durationsOf(plan);
  const EngineCosts costs{.step = 1e-3}; // a unit
  // First fit of samples in their order (runtime/Data/Packing.h).
  const StepPacking pack = [&](std::span<const std::uint32_t> inputs) -> StatusOr<std::uint32_t> {
    Packing packing;
    packing.pack(inputs, {.tokens = plan.data.tokens, .samples = plan.data.samples});
    return packing.microbatches();
  };
  const auto drawn = [&](LengthHistogram lengths) {
    const StatusOr<RoundQuantiles> rounds =
        roundQuantiles(plan, durations, costs, lengths, pack, 100);
    EXPECT_TRUE(rounds.ok());
    return *rounds;
  };
  const RoundQuantiles alike = drawn({.responses = {{4, 1}}});
  EXPECT_EQ(alike.period.low, alike.period.high);
  EXPECT_EQ(alike.tokens.middle, 4. * plan.round.rollout.candidates * plan.round.rollout.samples);
  // As long as they may be: the most microbatches, and the round that is simulated by itself.
  Durations full = durations;
  full.generation = {alike.engines[0], alike.engines[1]};
  EXPECT_EQ(alike.microbatches.middle, plan.data.microbatches);
  EXPECT_NEAR(alike.period.middle, double(simulatedRound(plan, full).period), 2);
  EXPECT_NEAR(alike.bubble.middle + alike.trainersWait.middle,
              1 - 48. / (alike.period.middle / kUnit), 1e-6);
  const RoundQuantiles mixed = drawn({.responses = {{1, 3}, {2, 1}, {4, 1}}});
  EXPECT_LT(mixed.period.low, mixed.period.high);
  EXPECT_LE(mixed.generation.low, mixed.generation.middle);
  EXPECT_LT(mixed.microbatches.middle, alike.microbatches.middle);
  EXPECT_EQ(drawn({.responses = {{1, 3}, {2, 1}, {4, 1}}}).period.middle, mixed.period.middle);
}

/// Three engines on two cores: until the first is through each has two thirds of one.
TEST(Rounds, EnginesShareCores) {
  EXPECT_EQ(lastOf({3, 5, 4}, 0), 5);
  EXPECT_EQ(lastOf({3, 5, 4}, 3), 5);
  EXPECT_DOUBLE_EQ(lastOf({2, 4, 6}, 2), 3 + 2 + 2);
  EXPECT_DOUBLE_EQ(lastOf({2, 4}, 1), 6);
}

TEST(Rounds, AnOrderKnowsNoEngines) {
  const plan::Plan plan = withRounds(2);
  const verify::ActionTable table(plan, stepOf(plan, {}));
  const OrderFacts facts = orderFactsOf(table, durationsOf(plan));
  EXPECT_EQ(facts.periods.barrier, 33. * kUnit);
}

} // namespace
} // namespace vime
