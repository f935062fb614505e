// What plans cost on machines: rooflines by hand, what was measured put together again, and what
// follows from nothing.
#include "compiler/Machine/MachineCosts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/Machine/EngineRates.h"
#include "compiler/Machine/PartTimes.h"
#include "compiler/Machine/Profiles.h"
#include "compiler/Machine/ReadMachine.h"
#include "runtime/Plan/BatchCaps.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using plan::Opcode;

Figure of(double value) { return {value, "a test"}; }

/// Operations cost a nanosecond each and bytes nothing to speak of, or the other way round.
Machine plainMachine(bool isComputeBound) {
  Machine machine{.name = "plain"};
  machine.float32 = of(isComputeBound ? 1e9 : 1e20);
  machine.bandwidth = of(isComputeBound ? 1e20 : 1e9);
  machine.share = machine.bandwidthShare = of(1);
  machine.nodeLatency = of(3e-6);
  machine.nodeBandwidth = of(2e9);
  return machine;
}

double nanosecondsOf(const MachineCosts &costs, std::size_t stage, Opcode opcode) {
  return static_cast<double>(costs.durations.stages[stage][opcode]);
}

TEST(MachineCosts, AreTheRooflineOfEachStage) {
  const plan::Plan plan = lowered({.schedule = "zb-h1", .ranks = 2, .layers = 5});
  const plan::Model &model = plan.models[0];
  for (const bool isComputeBound : {true, false}) {
    const auto costs = costsOn(plainMachine(isComputeBound), plan);
    ASSERT_TRUE(costs.ok()) << costs.status().message();
    for (std::size_t stage = 0; stage < model.stages.size(); ++stage)
      for (const Opcode opcode :
           {Opcode::Forward, Opcode::BackwardInput, Opcode::BackwardWeight, Opcode::Optimize}) {
        const Work work =
            workOf(model.config, plan::capsOf(plan.data), opcode).of(model.stages[stage]);
        EXPECT_NEAR(nanosecondsOf(*costs, stage, opcode), isComputeBound ? work.flops : work.bytes,
                    1 + 1e-6 * work.bytes);
      }
    EXPECT_EQ(costs->durations.near.latency, 3000);
    EXPECT_DOUBLE_EQ(costs->durations.near.perByte, 0.5);
  }
}

TEST(MachineCosts, EachHasItsOrigin) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  const auto costs = costsOn(plainMachine(true), plan);
  ASSERT_TRUE(costs.ok());
  for (const CostRow &row : costs->rows) {
    EXPECT_FALSE(row.origin.empty()) << row.of << " " << row.what;
    EXPECT_GT(row.nanoseconds, 0) << row.of << " " << row.what;
  }
  EXPECT_THAT(costs->figures, testing::Contains("node.latency 3 us: a test"));
}

TEST(MachineCosts, RanksOfTwoNodesMeetOverTheNetwork) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 4});
  Machine machine = plainMachine(true);
  machine.ranks = of(2);
  const auto unknown = costsOn(machine, plan);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().message(), testing::HasSubstr("`network.latency`"));
  machine.networkLatency = of(20e-6);
  machine.networkBandwidth = of(1e9);
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  EXPECT_EQ(costs->durations.link(0, 1).latency, 3000);
  EXPECT_EQ(costs->durations.link(1, 2).latency, 20000);
  EXPECT_EQ(costs->durations.link(1, 2).perByte, 1);
}

TEST(MachineCosts, WhatDoesNotFitIsNoted) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  Machine machine = plainMachine(true);
  machine.memory = of(4096);
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  EXPECT_THAT(costs->notes, testing::Contains(testing::HasSubstr("of device memory")));
}

TEST(MachineCosts, AreRefusedWhereNoMachineIsThatSlow) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  Machine machine = plainMachine(true);
  machine.share = of(1e-300);
  EXPECT_THAT(costsOn(machine, plan).status().message(),
              testing::HasSubstr("takes longer than a day on machine `plain`"));
}

/// Measured on the model of `lowered`, a microsecond here and there.
Machine measuredMachine(const plan::Plan &plan) {
  Machine machine{.name = "here"};
  machine.nodeLatency = of(3e-6);
  machine.nodeBandwidth = of(2e9);
  Measurements measured{
      .source = "a test",
      .model = plan.models[0].config,
      .microbatch = plan::capsOf(plan.data),
      .stage = {},
      .layer = {{Opcode::Forward, {10e-6}}, {Opcode::Backward, {18e-6}}},
      .embedding = {{Opcode::Forward, {1e-6}}, {Opcode::Backward, {2e-6}}},
      .head = {{Opcode::Forward, {5e-6}}, {Opcode::Backward, {9e-6}}, {Opcode::Loss, {4e-6}}},
      .rank = {{Opcode::Clip, {7e-6}}}};
  for (const Opcode opcode : {Opcode::ScaleGradients, Opcode::SquareNorm, Opcode::Optimize})
    measured.layer[opcode] = {1e-6};
  machine.measured = std::move(measured);
  return machine;
}

TEST(MachineCosts, MeasuredPartsMakeStagesOfAnySize) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 3, .layers = 8}); // 3, 3, 2
  const auto costs = costsOn(measuredMachine(plan), plan);
  ASSERT_TRUE(costs.ok()) << costs.status().message();
  EXPECT_EQ(nanosecondsOf(*costs, 0, Opcode::Forward), 31000);
  EXPECT_EQ(nanosecondsOf(*costs, 1, Opcode::Forward), 30000);
  EXPECT_EQ(nanosecondsOf(*costs, 2, Opcode::Forward), 25000);
  EXPECT_EQ(nanosecondsOf(*costs, 2, Opcode::Backward), 45000);
  EXPECT_EQ(nanosecondsOf(*costs, 2, Opcode::Loss), 4000);
  EXPECT_EQ(costs->durations.ofRank[Opcode::Clip], 7000);
  EXPECT_EQ(costs->rows.front().origin, "measured");
}

TEST(MachineCosts, APartThatTheFileDoesNotHaveIsRefused) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  const auto without = [&](MeasuredTimes Measurements::*part, Opcode opcode) {
    Machine machine = measuredMachine(plan);
    (*machine.measured.*part).erase(opcode);
    return costsOn(machine, plan);
  };
  for (const auto &[part, name] :
       {std::pair(&Measurements::layer, "layer"), std::pair(&Measurements::embedding, "embedding"),
        std::pair(&Measurements::head, "head")}) {
    const auto costs = without(part, Opcode::Forward);
    ASSERT_FALSE(costs.ok()) << name;
    EXPECT_THAT(costs.status().message(),
                testing::AllOf(testing::StartsWith(fmt::format(
                                   "machine `here` does not say `measured.{}.forward`", name)),
                               testing::HasSubstr("help: add it, or measure again")));
  }
  EXPECT_TRUE(without(&Measurements::rank, Opcode::Forward).ok());
}

// A head of the size of a layer's work takes as long, of another work.
TEST(MachineCosts, ARowHasTheWorkOfItsStages) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  Machine machine = measuredMachine(plan);
  machine.measured->embedding[Opcode::Forward] = machine.measured->head[Opcode::Forward] = {0};
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  const PartWork work = workOf(plan.models[0].config, plan::capsOf(plan.data), Opcode::Forward);
  std::size_t stage = 0;
  for (const CostRow &row : costs->rows)
    if (row.what == "forward") {
      EXPECT_EQ(row.work, work.of(plan.models[0].stages[stage++])) << row.of;
    }
  EXPECT_EQ(stage, 2U);
}

TEST(MachineCosts, HalvesOfABackwardAddUpToTheMeasuredWhole) {
  const plan::Plan whole = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  const plan::Plan split = lowered({.schedule = "zb-h1", .ranks = 2, .layers = 4});
  const auto costs = costsOn(measuredMachine(whole), split);
  ASSERT_TRUE(costs.ok()) << costs.status().message();
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const double input = nanosecondsOf(*costs, stage, Opcode::BackwardInput),
                 weight = nanosecondsOf(*costs, stage, Opcode::BackwardWeight);
    EXPECT_NEAR(input + weight, stage == 0 ? 38000 : 45000, 2);
    EXPECT_GT(input, 18000); // attention is in this half
    EXPECT_GT(weight, 15000);
  }
  // A plan that runs only whole ones has the same halves, for bounds, and no rows of them.
  const auto besides = costsOn(measuredMachine(whole), whole);
  ASSERT_TRUE(besides.ok());
  for (const Opcode half : {Opcode::BackwardInput, Opcode::BackwardWeight})
    EXPECT_EQ(nanosecondsOf(*besides, 1, half), nanosecondsOf(*costs, 1, half));
  for (const CostRow &row : besides->rows)
    EXPECT_NE(row.what, "backward_input");
  Machine halves = measuredMachine(whole);
  halves.measured->layer.erase(Opcode::Backward);
  halves.measured->layer[Opcode::BackwardInput] = {11e-6};
  halves.measured->layer[Opcode::BackwardWeight] = {8e-6};
  halves.measured->embedding.erase(Opcode::Backward);
  halves.measured->head.erase(Opcode::Backward);
  halves.measured->embedding[Opcode::BackwardWeight] = {0};
  halves.measured->head[Opcode::BackwardInput] =
      halves.measured->head[Opcode::BackwardWeight] = {0};
  const auto joined = costsOn(halves, whole);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(nanosecondsOf(*joined, 0, Opcode::Backward), 2 * 19000);
}

TEST(MachineCosts, AnotherModelIsScaledByItsWorkAndSaysSo) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  Machine machine = measuredMachine(plan);
  machine.measured->model.ffn = 12; // was half as wide there
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  const MicrobatchCaps caps = plan::capsOf(plan.data);
  const double ratio = workOf(plan.models[0].config, caps, Opcode::Forward).layer.flops /
                       workOf(machine.measured->model, caps, Opcode::Forward).layer.flops;
  EXPECT_GT(ratio, 1.2);
  EXPECT_NEAR(nanosecondsOf(*costs, 0, Opcode::Forward), 1000 + 2 * 10000 * ratio, 1);
  EXPECT_EQ(costs->rows.front().origin, "measured, scaled by the work from ffn 12");
}

TEST(MachineCosts, TasksOfRoundsFollowFromThoseOfTexts) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  Machine machine = measuredMachine(plan);
  machine.measured->head[Opcode::Loss] = {3e-6}; // three times over the logits
  UsedFigures used;
  const auto timesOf = [&](Opcode opcode) {
    return partTimes(machine, plan.models[0].config, plan::capsOf(plan.data), 1, opcode, used)
        .value();
  };
  EXPECT_EQ(timesOf(Opcode::Infer).layer, timesOf(Opcode::Forward).layer);
  EXPECT_NEAR(timesOf(Opcode::PolicyLoss).head, 5e-6, 1e-12);
  EXPECT_NEAR(timesOf(Opcode::LogProbabilities).head, 1e-6, 1e-12);
  EXPECT_EQ(timesOf(Opcode::PolicyLoss).origin, "by the work from measured loss");
}

TEST(MachineCosts, OtherTypesAndKernelsAreRefused) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2});
  Machine machine = measuredMachine(plan);
  machine.measured->model.type = DataType::BFloat16;
  EXPECT_THAT(costsOn(machine, plan).status().message(),
              testing::HasSubstr("was measured in bfloat16, the plan computes in float32"));
  machine = measuredMachine(plan);
  machine.measured->model.kernels = KernelLibrary::LibTorch;
  EXPECT_THAT(costsOn(machine, plan).status().message(),
              testing::HasSubstr("was measured with libtorch kernels, the plan has native ones"));
}

TEST(MachineCosts, UsersModulesHaveNoneUntilTheyAreMeasured) {
  plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 2, .layers = 4});
  plan.models[0].config.family = ModelFamily::TorchScript;
  EXPECT_THAT(costsOn(plainMachine(true), plan).status().message(),
              testing::HasSubstr("help: measure this job: `vimec calibrate"));
  Machine machine = measuredMachine(plan);
  machine.measured->layer[Opcode::Loss] = machine.measured->embedding[Opcode::Loss] = {0};
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok()) << costs.status().message();
  EXPECT_EQ(nanosecondsOf(*costs, 0, Opcode::Forward), 21000);
  plan.models[0].config.family = ModelFamily::Llama;
  EXPECT_THAT(costsOn(machine, plan).status().message(),
              testing::HasSubstr("was measured with a user's module"));
  plan.models[0].config.family = ModelFamily::TorchScript;
  machine.measured->microbatch.tokens *= 2;
  EXPECT_THAT(costsOn(machine, plan).status().message(),
              testing::HasSubstr("from which nothing follows"));
}

TEST(MachineCosts, StagesThatSleepTakeWhatTheyDeclareAndWhatWasMeasuredBesides) {
  plan::Plan plan = lowered({.schedule = "zb-h1", .ranks = 2, .layers = 4});
  ModelConfig &config = plan.models[0].config;
  config = {.family = ModelFamily::Sleep,
            .layers = 4,
            .forwardSeconds = 0.02,
            .backwardInputSeconds = 0.03,
            .backwardWeightSeconds = 0.01};
  Machine machine{.name = "here"};
  machine.nodeLatency = of(0);
  auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok()) << costs.status().message();
  EXPECT_EQ(nanosecondsOf(*costs, 1, Opcode::BackwardInput), 30e6);
  machine.measured =
      Measurements{.source = "a test",
                   .model = config,
                   .microbatch = {},
                   .stage = {{Opcode::Forward, {80e-6}}, {Opcode::Backward, {60e-6}}},
                   .layer = {},
                   .embedding = {},
                   .head = {},
                   .rank = {}};
  costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  EXPECT_EQ(nanosecondsOf(*costs, 0, Opcode::Forward), 20e6 + 80e3);
  EXPECT_EQ(nanosecondsOf(*costs, 0, Opcode::BackwardWeight), 10e6 + 30e3);
}

/// A prompt that an engine takes in one step is a forward of its tokens, but for the head, which is
/// asked for one of them.
TEST(MachineCosts, AnEnginesStepIsAForward) {
  const plan::Plan plan =
      lowered({.schedule = "1f1b", .ranks = 2, .microbatches = 4, .layers = 5, .engines = 1});
  const Machine machine = plainMachine(true);
  UsedFigures used;
  const auto rates = engineRates(machine, plan, used);
  ASSERT_TRUE(rates.ok()) << rates.status().message();
  const MicrobatchCaps prompt{.tokens = 12, .segments = 1, .segmentTokens = 12};
  const PartWork work = workOf(plan.models[0].config, prompt, Opcode::Forward);
  const std::vector<EngineSequence> queue = {{0, 12, 1}};
  EXPECT_NEAR(1e9 * engineSeconds(queue, {1, 12}, rates->costs),
              5 * work.layer.flops + work.head.flops / 12, 1e-3);
  EXPECT_EQ(costsOn(machine, plan)->durations.generation.size(), 1u);
}

TEST(MachineCosts, AnEnginesFiguresGoBeforeItsWork) {
  const plan::Plan plan =
      lowered({.schedule = "1f1b", .ranks = 2, .microbatches = 4, .engines = 2});
  Machine machine = plainMachine(true);
  machine.engineStep = of(1e-3);
  machine.engineToken = of(1e-5);
  const auto costs = costsOn(machine, plan);
  ASSERT_TRUE(costs.ok());
  EXPECT_EQ(costs->engine.step, 1e-3);
  EXPECT_EQ(costs->engine.row, 1e-5);
  EXPECT_GT(costs->durations.generation[0], 5'000'000);
}

// A figure for people: what seven billion parameters reach on one GPU of the profile.
TEST(MachineCosts, SevenBillionParametersTrainAtAPlausibleSpeed) {
  Findings findings;
  const auto machine = readMachine(findProfile("a100-80g")->text, "a100-80g", findings);
  ASSERT_TRUE(machine);
  plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 1, .microbatches = 3, .layers = 32});
  ModelConfig &config = plan.models[0].config;
  config.hidden = 4096;
  config.heads = config.kvHeads = 32;
  config.headWidth = 128;
  config.ffn = 11008;
  config.vocab = 32000;
  config.type = DataType::BFloat16;
  plan.data.sequence = plan.data.tokens = 4096;
  plan.data.samples = 1;
  const auto costs = costsOn(*machine, plan);
  ASSERT_TRUE(costs.ok()) << costs.status().message();
  const double seconds =
      (nanosecondsOf(*costs, 0, Opcode::Forward) + nanosecondsOf(*costs, 0, Opcode::Backward)) /
      1e9;
  EXPECT_GT(4096 / seconds,
            2500); // tokens a second: 3,400 at half of 312 TFLOP/s, 6 N and attention
  EXPECT_LT(4096 / seconds, 4000);
}

} // namespace
} // namespace vime
