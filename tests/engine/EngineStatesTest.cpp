// Pauses, versions and sleep: what an engine does in which state, and what it refuses.
#include <functional>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "tests/engine/FullForward.h"
#include "tests/engine/TestModels.h"

namespace vime {
namespace {

constexpr EngineCaps kCaps{.slots = 2, .rows = kMostRows, .batchTokens = 6};

class EngineStates : public testing::Test {
protected:
  void SetUp() override {
    if (!nativeKernels(DataType::Float32))
      GTEST_SKIP() << nativeRefusal(DataType::Float32);
  }
  const Kernels &kernels = *nativeKernels(DataType::Float32);
  const ModelConfig config = configOf(kTestModels[1], DataType::Float32);
  const Asked asked{.request = {.prompt = 5, .seed = 2, .mostNew = 16}, .tokens = {1, 2, 3, 4}};

  static std::string refusal(const Status &status) {
    EXPECT_EQ(status.code(), StatusCode::Internal);
    return status.message();
  }
  /// Draws `before` tokens by the first weights, changes them, and finishes.
  Finished acrossVersions(int before, const std::function<void(EngineRun &)> &change) {
    EngineRun run(config, kCaps, kernels);
    run.publish(1, 7);
    run.start();
    EXPECT_TRUE(run->admit(asked.view()).ok());
    for (int step = 0; step < before; ++step)
      run.step();
    EXPECT_TRUE(run->pause(Pause::Keep).ok());
    change(run);
    EXPECT_TRUE(run->resume().ok());
    std::vector<Finished> done;
    while ((done = run.take()).empty())
      run.step();
    return done.front();
  }
  std::vector<double> trainersView(std::uint64_t seed, const Finished &one) const {
    const GuardedRegion weights = sharpWeights(config, kernels, seed);
    return FullForward(config, kernels, weights, kMostRows).logProbabilities(one.tokens, 4);
  }
};

TEST_F(EngineStates, TokensCarryTheVersionThatDrewThem) {
  const Finished one = acrossVersions(6, [](EngineRun &run) { run.publish(5, 8); });
  std::vector<std::int64_t> versions(6, 1);
  versions.resize(16, 5);
  EXPECT_EQ(one.versions, versions);
}

TEST_F(EngineStates, AFlushHasTheNewWeightsSeeEverything) {
  const Finished one = acrossVersions(6, [](EngineRun &run) {
    run.publish(2, 8);
    ASSERT_TRUE(run->flush().ok());
  });
  const auto older = trainersView(7, one), newer = trainersView(8, one);
  EXPECT_TRUE(std::equal(older.begin(), older.begin() + 6, one.logProbabilities.begin()));
  EXPECT_TRUE(std::equal(newer.begin() + 6, newer.end(), one.logProbabilities.begin() + 6));
}

TEST_F(EngineStates, WithoutAFlushNewWeightsSeeOldKeysAndValues) {
  const Finished one = acrossVersions(6, [](EngineRun &run) { run.publish(2, 8); });
  const auto newer = trainersView(8, one);
  EXPECT_FALSE(std::equal(newer.begin() + 6, newer.end(), one.logProbabilities.begin() + 6));
}

TEST_F(EngineStates, ANewSampleTakesNothingThatOldWeightsMade) {
  EngineRun run(config, kCaps, kernels);
  run.publish(1, 7);
  run.start();
  ASSERT_TRUE(run->admit(asked.view()).ok());
  for (int step = 0; step < 6; ++step)
    run.step();
  ASSERT_TRUE(run->pause(Pause::Keep).ok());
  run.publish(2, 8);
  ASSERT_TRUE(run->resume().ok());
  Asked other = asked;
  other.request.sample = 1;
  ASSERT_TRUE(run->admit(other.view()).ok());
  std::vector<Finished> done;
  while (run->freeSlots() < 2) {
    run.step();
    for (Finished &one : run.take())
      done.push_back(std::move(one));
  }
  sort(done);
  EXPECT_EQ(done[1].versions, std::vector<std::int64_t>(16, 2));
  EXPECT_EQ(done[1].logProbabilities, trainersView(8, done[1]));
}

TEST_F(EngineStates, SleepForgetsTheCacheAndNothingElse) {
  const Finished undisturbed = acrossVersions(6, [](EngineRun &) {});
  const Finished slept = acrossVersions(6, [](EngineRun &run) {
    ASSERT_TRUE(run->sleep().ok());
    EXPECT_FALSE(run->isAwake());
    run.wake();
  });
  EXPECT_EQ(slept, undisturbed);
  const Finished changed = acrossVersions(6, [](EngineRun &run) {
    ASSERT_TRUE(run->sleep().ok());
    run.publish(2, 8); // weights come while the cache is away
    run.wake();
  });
  EXPECT_NE(changed, undisturbed);
}

TEST_F(EngineStates, APauseMayAbort) {
  EngineRun run(config, kCaps, kernels);
  run.publish(3, 7);
  run.start();
  Asked other = asked;
  other.request.sample = 1;
  ASSERT_TRUE(run->admit(asked.view()).ok());
  ASSERT_TRUE(run->admit(other.view()).ok());
  for (int step = 0; step < 4; ++step)
    run.step();
  ASSERT_TRUE(run->pause(Pause::Abort).ok());
  const auto done = run.take();
  ASSERT_EQ(done.size(), 2u);
  for (const Finished &one : done) {
    EXPECT_EQ(one.finish, Finish::Aborted);
    EXPECT_FALSE(one.drawn.empty());
    EXPECT_EQ(one.versions, std::vector<std::int64_t>(one.drawn.size(), 3));
  }
  EXPECT_EQ(run->freeSlots(), 2u);
}

TEST_F(EngineStates, WhoComesWhilePausedWaits) {
  EngineRun run(config, kCaps, kernels);
  ASSERT_TRUE(run->admit(asked.view()).ok()) << "before there is anything to generate with";
  run.publish(1, 7);
  run.start();
  std::vector<Finished> done;
  while ((done = run.take()).empty())
    run.step();
  EXPECT_EQ(done.front(), acrossVersions(3, [](EngineRun &) {}));
}

TEST_F(EngineStates, TheWrongOrderIsRefused) {
  EngineRun run(config, kCaps, kernels);
  EXPECT_FALSE(run->version().has_value());
  EXPECT_EQ(refusal(run->resume()), "the engine is resumed while it sleeps");
  EXPECT_EQ(refusal(run->sleep()), "the engine is put to sleep while it sleeps");
  EXPECT_EQ(refusal(run->publish(1)), "version 1 is published without new weights of stage 0");
  EXPECT_EQ(refusal(run->step(nullptr).status()), "the engine steps while it is paused");
  run.wake();
  EXPECT_EQ(refusal(run->wake(&run)), "the engine is woken while it is awake");
  EXPECT_EQ(refusal(run->resume()), "the engine is resumed without weights");

  run.publish(4, 7);
  EXPECT_EQ(run->version(), 4);
  EXPECT_EQ(refusal(run->publish(5)), "version 5 is published without new weights of stage 0");
  ASSERT_TRUE(run->resume().ok());
  EXPECT_EQ(refusal(run->flush()), "the cache is flushed while the engine runs");
  EXPECT_EQ(refusal(run->sleep()), "the engine is put to sleep while it runs");
  EXPECT_EQ(refusal(run->install(0, &run)), "weights are installed while the engine runs");
  EXPECT_EQ(refusal(run->publish(5)), "version 5 is published while the engine runs");
  EXPECT_FALSE(run->isPaused());
  EXPECT_TRUE(run->isAwake());
  EXPECT_EQ(run->version(), 4);

  // Weights that were begun and not finished: the engine stays paused.
  ASSERT_TRUE(run->pause(Pause::Keep).ok());
  const GuardedRegion weights = sharpWeights(config, kernels, 8);
  EXPECT_EQ(refusal(run->install(1, weights.data())), "stage 1 of 1 is installed");
  EXPECT_EQ(refusal(run->install(0, nullptr)), "stage 0 is installed without weights");
  EXPECT_EQ(run->version(), 4);
  ASSERT_TRUE(run->install(0, weights.data()).ok());
  EXPECT_FALSE(run->version().has_value());
  EXPECT_EQ(refusal(run->resume()), "the engine is resumed before its weights are published");
  EXPECT_EQ(refusal(run->publish(4)), "version 4 is published after version 4");
  ASSERT_TRUE(run->publish(6).ok());
  EXPECT_TRUE(run->resume().ok());
}

TEST_F(EngineStates, RefusesWhatDoesNotFit) {
  EngineRun run(config, kCaps, kernels);
  const auto refused = [&](const std::function<void(Asked &)> &change) {
    Asked bad = asked;
    change(bad);
    const StatusOr<int> slot = run->admit(bad.view());
    EXPECT_EQ(slot.status().code(), StatusCode::InvalidInput);
    return slot.status().message();
  };
  EXPECT_EQ(refused([](Asked &one) { one.request.mostNew = 37; }),
            "sample 0 of prompt 5 has a prompt of 4 tokens and up to 37 new ones, room for 40");
  EXPECT_EQ(refused([](Asked &one) { one.request.mostNew = 0; }),
            "sample 0 of prompt 5 may have 0 new tokens and has 0");
  EXPECT_EQ(refused([](Asked &one) { one.tokens.clear(); }),
            "sample 0 of prompt 5 has 0 tokens, 0 of them of its response");
  EXPECT_EQ(refused([](Asked &one) { one.request.continued = 4; }),
            "sample 0 of prompt 5 has 4 tokens, 4 of them of its response");
  EXPECT_EQ(refused([](Asked &one) { one.request.continued = one.request.mostNew = 3; }),
            "sample 0 of prompt 5 may have 3 new tokens and has 3");
  EXPECT_EQ(refused([](Asked &one) { one.tokens[2] = 43; }),
            "sample 0 of prompt 5 has token 43 of a vocabulary of 43");
  EXPECT_EQ(refused([](Asked &one) { one.tokens[2] = -1; }),
            "sample 0 of prompt 5 has token -1 of a vocabulary of 43");
  EXPECT_EQ(refused([](Asked &one) { one.stops.assign(9, 1); }),
            "sample 0 of prompt 5 stops at any of 9 tokens, room for 8");
  EXPECT_EQ(refused([](Asked &one) { one.request.sampling.topP = 2; }),
            "a top_p of 2, expected more than 0 and at most 1");
  EXPECT_EQ(run->freeSlots(), 2u);

  ASSERT_TRUE(run->admit(asked.view()).ok());
  EXPECT_EQ(refused([](Asked &) {}), "sample 0 of prompt 5 is there already");
  EXPECT_EQ(refusal(run->release(0)), "slot 0 is released, whose sequence has not finished");
  EXPECT_EQ(refusal(run->release(1)), "slot 1 is released, whose sequence has not finished");
  EXPECT_EQ(refusal(run->release(2)), "slot 2 is released, whose sequence has not finished");
  Asked other = asked;
  other.request.sample = 1;
  ASSERT_TRUE(run->admit(other.view()).ok());
  other.request.sample = 2;
  EXPECT_EQ(refusal(run->admit(other.view()).status()), "all 2 slots are taken");
}

TEST_F(EngineStates, RefusesModelsAndCapsThatCannotBe) {
  const auto refused = [&](const ModelConfig &model, EngineCaps caps) {
    const auto made = Engine::make(model, splitLayers(model, 1), caps, kernels, nullptr);
    EXPECT_EQ(made.status().code(), StatusCode::InvalidInput);
    return made.status().message();
  };
  EXPECT_EQ(refused(config, {.slots = 4, .rows = 40, .batchTokens = 3}),
            "an engine of 4 slots with 40 rows that takes 3 tokens a step");
  EXPECT_EQ(refused(config, {.slots = 0, .rows = 40, .batchTokens = 3}),
            "an engine of 0 slots with 40 rows that takes 3 tokens a step");
  EXPECT_EQ(refused(config, {.slots = 1, .rows = 1, .batchTokens = 1}),
            "an engine of 1 slots with 1 rows that takes 1 tokens a step");
  ModelConfig other = config;
  other.type = DataType::Float64;
  EXPECT_EQ(refused(other, kCaps), "a float64 model on float32 kernels");
  EXPECT_EQ(refused({.family = ModelFamily::Null, .layers = 1}, kCaps),
            "the family `null` generates nothing");
}

TEST_F(EngineStates, EveryStageMustComeBeforeAPublication) {
  const std::vector<StageRange> stages = splitLayers(config, 2);
  const GuardedRegion first = sharpWeights(config, kernels, 8, stages[0]),
                      last = sharpWeights(config, kernels, 8, stages[1]);
  EngineRun run(config, stages, kCaps, kernels);
  ASSERT_TRUE(run->install(0, first.data()).ok());
  EXPECT_EQ(refusal(run->publish(1)), "version 1 is published without new weights of stage 1");
  ASSERT_TRUE(run->install(1, last.data()).ok());
  ASSERT_TRUE(run->publish(1).ok());
  ASSERT_TRUE(run->install(1, last.data()).ok());
  EXPECT_EQ(refusal(run->publish(2)), "version 2 is published without new weights of stage 0");
}

TEST_F(EngineStates, RefusesStagesThatAreNotTheModels) {
  const auto refused = [&](const std::vector<StageRange> &stages) {
    const auto made = Engine::make(config, stages, kCaps, kernels, nullptr);
    EXPECT_EQ(made.status().code(), StatusCode::InvalidInput);
    return made.status().message();
  };
  EXPECT_EQ(refused({}), "stages have 0 layers of a model with 3");
  EXPECT_EQ(refused({{0, 2, true, false}}), "stages have 2 layers of a model with 3");
  EXPECT_EQ(refused({{0, 1, true, false}, {2, 3, false, true}}),
            "a stage has layers 2 to 3, the one before it ends at 1 of 3");
  EXPECT_EQ(refused({{0, 2, true, false}, {2, 3, false, false}}),
            "a stage has layers 2 to 3, the one before it ends at 2 of 3");
}

} // namespace
} // namespace vime
