// What a step is spent on adds up to the step, and work stays the same work in another plan.
#include "compiler/Analysis/Causes.h"
#include "compiler/Analysis/EvenLayout.h"
#include "compiler/Analysis/SameWork.h"
#include "schedules/Registry.h"

#include "tests/lowering/Lowered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

namespace vime {
namespace {

using plan::Opcode;

std::map<std::string_view, double> causesIn(const plan::Plan &plan, const Durations &durations,
                                            std::int64_t &period) {
  const verify::ActionTable table(plan, steadyStepOf(plan));
  const Simulated run = simulate(table, durations, 3);
  EXPECT_FALSE(run.stuck);
  period = run.period;
  std::map<std::string_view, double> times;
  const StepReport report = reportOf(table, run);
  for (const Cause &cause : causesOf(table, run, report)) {
    EXPECT_GE(cause.most, cause.time);
    times[nameOf(cause.kind)] = double(cause.time) / kUnit;
  }
  const IdleTime idle = sumOf(report); // a word means the same in both
  const auto mean = [&](std::int64_t sum) {
    return double(sum / static_cast<std::int64_t>(report.ranks.size())) / kUnit;
  };
  EXPECT_EQ(times.contains("warm-up") ? times["warm-up"] : 0, mean(idle.warmUp));
  EXPECT_EQ(times.contains("cool-down") ? times["cool-down"] : 0, mean(idle.coolDown));
  return times;
}

// 1F1B on 4 ranks with 8 microbatches: 24 units of work in 33, of the others each rank r waits r at
// the begin, 2r at the end, and 3(3-r) between.
TEST(Causes, OfOneFOneB) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 4, .microbatches = 8, .layers = 4});
  std::int64_t period = 0;
  const auto causes = causesIn(plan, unitDurations(plan), period);
  EXPECT_EQ(causes, (std::map<std::string_view, double>{
                        {"tasks", 24}, {"dependence", 4.5}, {"cool-down", 3}, {"warm-up", 1.5}}));
  // An update that takes five units on each rank, behind all tasks.
  Durations durations = unitDurations(plan);
  for (OpcodeTimes &stage : durations.stages)
    stage[Opcode::Optimize] = 5 * kUnit;
  const auto updated = causesIn(plan, durations, period);
  EXPECT_EQ(period, 38 * kUnit);
  EXPECT_EQ(updated.at("optimizer"), 5);
  EXPECT_EQ(updated.at("cool-down"), 3);
}

TEST(Causes, AddUpToThePeriod) {
  std::mt19937 random(17);
  int summed = 0;
  for (const Order &order : trainingOrders())
    for (const bool runsEarly : {false, true}) {
      if (check(order, {.ranks = 4, .microbatches = 8, .chunks = order.chunks.usual}) ||
          (runsEarly && order.takes.slices))
        continue;
      const plan::Plan plan = lowered({.schedule = std::string(order.name),
                                       .ranks = 4,
                                       .microbatches = 8,
                                       .chunks = static_cast<std::uint32_t>(order.chunks.usual),
                                       .layers = 8,
                                       .runsEarly = runsEarly});
      Durations durations = unitDurations(plan, {.transfer = 1});
      for (OpcodeTimes &stage : durations.stages)
        for (const Opcode opcode : {Opcode::Forward, Opcode::Backward, Opcode::BackwardInput,
                                    Opcode::BackwardWeight, Opcode::Optimize})
          stage[opcode] = std::int64_t(1 + random() % 9) * kUnit;
      std::int64_t period = 0;
      double sum = 0;
      for (const auto &[name, time] : causesIn(plan, durations, period))
        sum += time;
      EXPECT_NEAR(sum, double(period) / kUnit, 1e-4) << order.name << (runsEarly ? " early" : "");
      ++summed;
    }
  EXPECT_GT(summed, 25);
}

TEST(EvenLayout, IsAsEvenAsCanBe) {
  std::mt19937 random(19);
  for (int draw = 0; draw < 200; ++draw) {
    std::vector<double> layers(1 + random() % 9);
    for (double &layer : layers)
      layer = double(random() % 10);
    const std::uint32_t stages = 1 + random() % 4;
    const std::vector<std::uint32_t> layout = evenLayout(layers, stages);
    ASSERT_EQ(layout.empty(), layers.size() < stages);
    if (layout.empty())
      continue;
    double best = 1e9; // of all layouts
    std::vector<std::uint32_t> some;
    const std::function<void(std::uint32_t)> tryAll = [&](std::uint32_t left) {
      if (some.size() + 1 == stages) {
        some.push_back(left);
        best = std::min(best, longestStage(layers, some));
        some.pop_back();
        return;
      }
      for (std::uint32_t count = 1; count + (stages - some.size() - 1) <= left; ++count) {
        some.push_back(count);
        tryAll(left - count);
        some.pop_back();
      }
    };
    tryAll(static_cast<std::uint32_t>(layers.size()));
    EXPECT_EQ(longestStage(layers, layout), best);
    EXPECT_TRUE(std::ranges::all_of(layout, [](std::uint32_t count) { return count > 0; }));
  }
  EXPECT_EQ(evenLayout(std::vector<double>{1, 1, 1, 1, 1, 3}, 3),
            (std::vector<std::uint32_t>{3, 2, 1}));
}

// Six layers on three ranks, embedding and head beside them: what each of them takes is found from
// the stage in the middle, and is the same work in any other cut of the model.
TEST(SameWork, CutsTheSameModel) {
  const plan::Plan plan = lowered({.schedule = "1f1b", .ranks = 3, .microbatches = 6, .layers = 6});
  Durations durations = unitDurations(plan);
  durations.stages[0][Opcode::Forward] = 25; // 10 for a layer, 5 for the embedding
  durations.stages[1][Opcode::Forward] = 20;
  durations.stages[2][Opcode::Forward] = 80; // 60 for the head
  for (OpcodeTimes &stage : durations.stages)
    stage[Opcode::Backward] = 40, stage[Opcode::BackwardInput] = stage[Opcode::BackwardWeight] = 0;
  const auto forwards = [&](const plan::Plan &other) {
    std::vector<std::int64_t> times;
    for (const OpcodeTimes &stage : sameWork(plan, durations, other).stages)
      times.push_back(stage[Opcode::Forward]);
    return times;
  };
  using Times = std::vector<std::int64_t>;
  EXPECT_EQ(forwards(plan), (Times{25, 20, 80}));
  EXPECT_EQ(
      forwards(lowered(
          {.schedule = "interleaved", .ranks = 3, .microbatches = 6, .chunks = 2, .layers = 6})),
      (Times{15, 10, 10, 10, 10, 70}));
  EXPECT_EQ(forwards(lowered({.schedule = "1f1b", .ranks = 2, .microbatches = 6, .layers = 6})),
            (Times{35, 90}));
  const plan::Plan both =
      lowered({.schedule = "dualpipe", .ranks = 2, .microbatches = 6, .layers = 6});
  EXPECT_EQ(forwards(both), (Times{35, 90, 35, 90})); // of each copy
  // Halves of which nothing is known.
  const Durations halves = sameWork(plan, durations, both);
  EXPECT_EQ(halves.stages[0][Opcode::BackwardInput] + halves.stages[0][Opcode::BackwardWeight], 60);
  EXPECT_EQ(halves.stages[0][Opcode::Backward], 60);
  // Two slices of a sample take half as long each, and so does what they pass on.
  durations.boundaryLatency = 8;
  const plan::Plan sliced =
      lowered({.schedule = "seq1f1b", .ranks = 3, .microbatches = 6, .layers = 6, .slices = 2});
  EXPECT_EQ(sameWork(plan, durations, sliced).stages[1][Opcode::Forward], 10);
  EXPECT_EQ(sameWork(plan, durations, sliced).boundaryLatency, 4);
}

} // namespace
} // namespace vime
