// What engines are foretold to do is what they do: as many steps, and rows in them.
#include "compiler/Analysis/EngineBatches.h"

#include <random>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "tests/engine/EngineRun.h"
#include "tests/engine/TestModels.h"

namespace vime {
namespace {

/// The engine itself, driven as ranks drive it (runtime/Rollout/EngineHost).
EngineSums ran(const std::vector<EngineSequence> &queue, EngineShape shape) {
  const ModelConfig config = fiveLayers(kTestModels[2], DataType::Float32);
  EngineRun run(config, {.slots = shape.slots, .rows = kMostRows, .batchTokens = shape.stepTokens},
                *nativeKernels(DataType::Float32));
  run.publish(1, 7);
  run.start();
  EngineSums sums;
  for (std::size_t next = 0, done = 0; done < queue.size();) {
    for (; next < queue.size() && run->freeSlots() > 0; ++next) {
      std::vector<std::int32_t> tokens;
      for (std::uint32_t token = 0; token < queue[next].prompt; ++token)
        tokens.push_back(static_cast<std::int32_t>((token * 7 + queue[next].draw) % config.vocab));
      EXPECT_TRUE(run->admit({.prompt = queue[next].draw,
                              .sample = static_cast<std::uint32_t>(next),
                              .tokens = tokens,
                              .mostNew = static_cast<std::int32_t>(queue[next].response)})
                      .ok());
    }
    const StepCounts counts = run.step();
    sums.steps += 1;
    sums.rows += counts.rows;
    sums.draws += counts.drawn;
    done += run.take().size();
  }
  return sums;
}

TEST(EngineBatches, AreThoseOfTheEngine) {
  if (!nativeKernels(DataType::Float32))
    GTEST_SKIP() << nativeRefusal(DataType::Float32);
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const auto slots = static_cast<std::uint32_t>(1 + random() % 9);
    const EngineShape shape{slots, static_cast<std::uint32_t>(slots + random() % 12)};
    std::vector<EngineSequence> queue;
    for (std::uint32_t draw = 0; draw < 1 + random() % 6; ++draw) {
      const auto prompt = static_cast<std::uint32_t>(1 + random() % 19);
      for (std::uint64_t samples = 1 + random() % 4; samples > 0; --samples)
        queue.push_back({draw, prompt, static_cast<std::uint32_t>(1 + random() % 20)});
    }
    const EngineSums expected = ran(queue, shape), found = engineSums(queue, shape, {});
    EXPECT_EQ(found.steps, expected.steps) << trial;
    EXPECT_EQ(found.rows, expected.rows) << trial;
    EXPECT_EQ(found.draws, expected.draws) << trial;
  }
}

/// Two sequences of prompts of 3 and responses of 2: a step for both prompts, one for both tokens.
TEST(EngineBatches, CostWhatTheirStepsCost) {
  const std::vector<EngineSequence> queue = {{0, 3, 2}, {1, 3, 2}};
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.step = 100}), 200);
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.row = 1}), 6 + 2);
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.draw = 1}), 2 + 2);
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.pair = 1}), 2 * (1 + 2 + 3) + 2 * 4);
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.key = 1}), 2 * 3 + 2 * 4);
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {2, 6}, {.row = 1, .weights = 4}), 6 + 4);
}

/// Steps that do the same are counted at once: the sum is that of each by itself.
TEST(EngineBatches, SeeLongerContextsInTime) {
  const std::vector<EngineSequence> queue = {{0, 2, 100}};
  double pairs = 1 + 2; // the prompt, of which the first token comes
  for (int length = 3; length < 102; ++length)
    pairs += length;
  EXPECT_DOUBLE_EQ(engineSeconds(queue, {1, 2}, {.pair = 1}), pairs);
}

TEST(EngineBatches, AreFittedToWhatWasMeasured) {
  std::vector<EngineObservation> seen;
  for (const auto &[steps, rows] : {std::pair(4., 200.), {6., 210.}, {9., 500.}})
    seen.push_back({steps, rows, 2e-3 * steps + 1e-5 * rows});
  const EngineCosts costs = fitEngine(seen);
  EXPECT_NEAR(costs.step, 2e-3, 1e-12);
  EXPECT_NEAR(costs.row, 1e-5, 1e-14);
  // Where all rounds did the same, nobody can tell a step from its tokens.
  const EngineCosts alike = fitEngine(std::vector<EngineObservation>(3, {4, 200, 0.01}));
  EXPECT_NEAR(4 * alike.step + 200 * alike.row, 0.01, 1e-12);
}

} // namespace
} // namespace vime
