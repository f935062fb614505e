// A machine whose costs are known is simulated, traced and calibrated: then it foretells what the
// known one does.
#include "compiler/Machine/Calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/Machine/MachineCosts.h"
#include "runtime/Plan/BatchCaps.h"
#include "tests/analysis/SimulatedTraces.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using plan::Opcode;

constexpr std::uint32_t kSteps = 12;

/// What the model of `lowered` costs; its head is dear, so that it must not be taken for a layer.
Machine knownMachine(const plan::Plan &plan) {
  const auto figure = [](double value) { return Figure{value, "a test"}; };
  Machine machine{.name = "known"};
  machine.nodeLatency = figure(20e-6);
  machine.nodeBandwidth = figure(1e8);
  machine.dispatch = figure(2e-6);
  Measurements measured{.source = "a test",
                        .model = plan.models[0].config,
                        .microbatch = plan::capsOf(plan.data),
                        .stage = {},
                        .layer = {{Opcode::Forward, {1e-3}},
                                  {Opcode::BackwardInput, {1.1e-3}},
                                  {Opcode::BackwardWeight, {0.9e-3}},
                                  {Opcode::Optimize, {0.2e-3}}},
                        .embedding = {{Opcode::Forward, {0}},
                                      {Opcode::BackwardWeight, {0}},
                                      {Opcode::Optimize, {1e-3}}},
                        .head = {{Opcode::Forward, {2e-3}},
                                 {Opcode::BackwardInput, {2e-3}},
                                 {Opcode::BackwardWeight, {2e-3}},
                                 {Opcode::Loss, {0.3e-3}},
                                 {Opcode::Optimize, {1e-3}}},
                        .rank = {{Opcode::Clip, {5e-6}}}};
  machine.measured = std::move(measured);
  return machine;
}

Simulated runOn(const Machine &machine, const plan::Plan &plan, const verify::ActionTable &table) {
  const auto costs = costsOn(machine, plan);
  EXPECT_TRUE(costs.ok()) << costs.status().message();
  return simulate(table, costs->durations, 1);
}

double periodOn(const Machine &machine, const plan::Plan &plan) {
  return static_cast<double>(
      runOn(machine, plan, verify::ActionTable(plan, steadyStepOf(plan))).period);
}

Machine calibratedOn(const Machine &known, const plan::Plan &plan) {
  const verify::ActionTable table(plan, steadyStepOf(plan));
  const Simulated run = runOn(known, plan, table);
  return calibrated(table, observedTimes(table, tracesOf(table, run, kSteps)),
                    {.name = "again", .source = "a simulated run"});
}

TEST(Calibrate, ForetellsOtherOrdersSplitsAndNumbers) {
  const plan::Plan plan =
      lowered({.schedule = "zb-h1", .ranks = 4, .microbatches = 8, .layers = 16});
  const Machine known = knownMachine(plan), again = calibratedOn(known, plan);
  for (const JobShape &shape : {JobShape{.schedule = "zb-h1", .ranks = 4, .microbatches = 8},
                                JobShape{.schedule = "gpipe", .ranks = 2, .microbatches = 8},
                                JobShape{.schedule = "1f1b", .ranks = 8, .microbatches = 16},
                                JobShape{.schedule = "interleaved", .microbatches = 8, .chunks = 4},
                                JobShape{.schedule = "zb-v", .microbatches = 12, .chunks = 2},
                                JobShape{.schedule = "1f1b", .ranks = 3, .layers = 11}}) {
    const plan::Plan other = lowered(shape);
    EXPECT_NEAR(periodOn(again, other) / periodOn(known, other), 1, 0.02)
        << shape.schedule << " on " << shape.ranks;
  }
}

TEST(Calibrate, WritesWhatItSaw) {
  const plan::Plan plan =
      lowered({.schedule = "zb-h1", .ranks = 4, .microbatches = 8, .layers = 16});
  const Machine again = calibratedOn(knownMachine(plan), plan);
  ASSERT_TRUE(again.measured);
  const Measurements &measured = *again.measured;
  // Besides its work an action is dispatched.
  EXPECT_NEAR(measured.layer.at(Opcode::Forward).seconds, 1e-3, 0.02e-3);
  EXPECT_NEAR(measured.head.at(Opcode::Forward).seconds, 2e-3, 0.1e-3);
  EXPECT_NEAR(measured.head.at(Opcode::Loss).seconds, 0.3e-3, 0.01e-3);
  EXPECT_FALSE(measured.layer.contains(Opcode::Loss));
  EXPECT_EQ(measured.layer.at(Opcode::Forward).spread, 0);
  EXPECT_TRUE(measured.embedding.contains(Opcode::Forward)); // though it takes nothing
  EXPECT_NEAR(measured.rank.at(Opcode::Clip).seconds, 5e-6, 3e-6);
  EXPECT_EQ(measured.source, "a simulated run");
  // Its messages are too much alike to tell what a byte takes.
  EXPECT_NEAR(again.nodeLatency.value, 30e-6, 12e-6);
  EXPECT_FALSE(again.nodeBandwidth.isKnown());
  // What an end takes follows from stages, and has no spread of its own.
  EXPECT_FALSE(measured.head.at(Opcode::Forward).spread);
  EXPECT_TRUE(measured.head.at(Opcode::Loss).spread);
  EXPECT_TRUE(again.float32.isKnown());
  EXPECT_FALSE(again.bfloat16.isKnown());
}

TEST(Calibrate, MessagesFarApartSayLatencyAndBandwidth) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  const verify::ActionTable table(plan, steadyStepOf(plan));
  const auto linkOf = [&](std::uint64_t least, std::uint64_t most) {
    ObservedTimes observed;
    observed.messages[least] = std::vector<std::int64_t>(10, 20'000);
    observed.messages[most] = std::vector<std::int64_t>(10, 40'000);
    return calibrated(table, observed, {.name = "here", .source = "a test"});
  };
  const Machine apart = linkOf(1 << 10, (1 << 10) + 200'000);
  EXPECT_DOUBLE_EQ(apart.nodeBandwidth.value, 1e10);
  EXPECT_NEAR(apart.nodeLatency.value, 19.9e-6, 0.1e-6);
  for (const auto &[least, most] : {std::pair(64U, 456U), std::pair(1'000'000U, 1'300'000U)}) {
    const Machine alike = linkOf(least, most);
    EXPECT_FALSE(alike.nodeBandwidth.isKnown()) << most;
    EXPECT_DOUBLE_EQ(alike.nodeLatency.value, 40e-6);
  }
}

// Half of the values are within the share that is said: of 100, 90, 110, 70 and 130 it is 10 %.
TEST(Calibrate, HalfOfTheValuesLieWithinTheSpread) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  const verify::ActionTable table(plan, steadyStepOf(plan));
  ObservedTimes observed;
  observed.ranks[Opcode::Clip] = {100, 90, 110, 70, 130};
  const Machine machine = calibrated(table, observed, {.name = "here", .source = "a test"});
  EXPECT_DOUBLE_EQ(*machine.measured->rank.at(Opcode::Clip).spread, 0.1);
}

// What such stages take beyond what they declare holds for those that declare something else.
TEST(Calibrate, KeepsOfStagesThatSleepWhatTheyTakeBesides) {
  plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .microbatches = 8});
  ModelConfig &config = plan.models[0].config;
  config = {.family = ModelFamily::Sleep,
            .layers = 16,
            .forwardSeconds = 2e-3,
            .backwardInputSeconds = 2e-3,
            .backwardWeightSeconds = 2e-3};
  Machine known{.name = "known"};
  known.nodeLatency = {20e-6, "a test"};
  known.measured = Measurements{.source = "a test",
                                .model = config,
                                .microbatch = {},
                                .stage = {{Opcode::Forward, {100e-6}}, {Opcode::Backward, {80e-6}}},
                                .layer = {},
                                .embedding = {},
                                .head = {},
                                .rank = {}};
  const Machine again = calibratedOn(known, plan);
  EXPECT_NEAR(again.measured->stage.at(Opcode::Forward).seconds, 100e-6, 1e-6);
  config.forwardSeconds = 5e-3;
  EXPECT_NEAR(periodOn(again, plan) / periodOn(known, plan), 1, 0.002);
}

} // namespace
} // namespace vime
