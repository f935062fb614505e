// What comes out of an engine is what the trainer computes for it, and what an engine without a
// cache would draw.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "tests/engine/FullForward.h"
#include "tests/engine/TestModels.h"
#include "tests/model/CountAllocations.h"

namespace vime {
namespace {

constexpr EngineCaps kCaps{.slots = 4, .rows = kMostRows, .batchTokens = 9};

using Case = std::tuple<DataType, TestModel>;

class EngineTest : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (!nativeKernels(type))
      GTEST_SKIP() << nativeRefusal(type);
  }
  const Kernels &kernels() const { return *nativeKernels(type); }
  const DataType type = std::get<0>(GetParam());
  const ModelConfig config = configOf(std::get<1>(GetParam()), type);
};

INSTANTIATE_TEST_SUITE_P(Native, EngineTest,
                         testing::Combine(testing::Values(DataType::Float32, DataType::Float64,
                                                          DataType::BFloat16),
                                          testing::ValuesIn(kTestModels)),
                         [](const auto &info) {
                           return std::string(nameOf(std::get<0>(info.param))) + "_" +
                                  std::get<1>(info.param).name;
                         });

TEST_P(EngineTest, LogProbabilitiesAreTheTrainersToTheBit) {
  EngineRun run(config, kCaps, kernels());
  run.publish(1, 7);
  run.start();
  const auto done = run.generate(someRequests(18, config.vocab, 5));
  const GuardedRegion weights = sharpWeights(config, kernels(), 7);
  const FullForward trainer(config, kernels(), weights, kMostRows);
  std::set<double> different;
  for (const Finished &one : done) {
    EXPECT_EQ(one.logProbabilities,
              trainer.logProbabilities(one.tokens, one.tokens.size() - one.drawn.size()))
        << "prompt " << one.prompt << ", sample " << one.sample;
    different.insert(one.logProbabilities.begin(), one.logProbabilities.end());
  }
  EXPECT_GT(different.size(), 30u) << "or the model says nothing";
  EXPECT_TRUE(run.fencesIntact());
}

TEST_P(EngineTest, StagesOfWeightsLieWhereTheyDo) {
  const ModelConfig five = fiveLayers(std::get<1>(GetParam()), type);
  const GuardedRegion weights = sharpWeights(five, kernels(), 7);
  const FullForward trainer(five, kernels(), weights, kMostRows);
  const auto asked = someRequests(6, five.vocab, 5);
  std::vector<Finished> whole;
  for (const std::vector<StageRange> &stages : stagesOfFive()) {
    EngineRun run(five, stages, kCaps, kernels());
    run.publish(1, 7);
    run.start();
    const auto done = run.generate(asked);
    if (whole.empty())
      whole = done;
    EXPECT_EQ(done, whole) << stages.size() << " stages, the first with " << stages[0].end;
    EXPECT_TRUE(run.fencesIntact());
  }
  for (const Finished &one : whole)
    EXPECT_EQ(one.logProbabilities,
              trainer.logProbabilities(one.tokens, one.tokens.size() - one.drawn.size()));
}

TEST_P(EngineTest, TokensAreThoseOfAnEngineWithoutACache) {
  EngineRun run(config, kCaps, kernels());
  run.publish(1, 7);
  run.start();
  const auto asked = someRequests(18, config.vocab, 6);
  const auto done = run.generate(asked);
  const GuardedRegion weights = sharpWeights(config, kernels(), 7);
  const FullForward trainer(config, kernels(), weights, kMostRows);
  std::set<Finish> ends;
  for (std::size_t index = 0; index < asked.size(); ++index) {
    const Finished expected = trainer.generate(asked[index]);
    EXPECT_EQ(done[index].tokens, expected.tokens) << index;
    EXPECT_EQ(done[index].drawn, expected.drawn) << index;
    EXPECT_EQ(done[index].finish, expected.finish) << index;
    EXPECT_EQ(done[index].versions, std::vector<std::int64_t>(expected.drawn.size(), 1));
    for (std::size_t at = 0; at < expected.drawn.size(); ++at)
      EXPECT_NEAR(done[index].sampledLogProbabilities[at], expected.sampledLogProbabilities[at],
                  type == DataType::Float64 ? 1e-12 : 1e-5);
    ends.insert(done[index].finish);
  }
  EXPECT_EQ(ends, std::set({Finish::Stop, Finish::Length}));
}

// An implementation that shares no code with the native one, down to the layout of its cache.
TEST_P(EngineTest, TheReferenceKernelsComeClose) {
  std::vector<Finished> found[2];
  const Kernels *both[] = {&kernels(), referenceKernels(type)};
  for (int which = 0; which < 2; ++which) {
    EngineRun run(config, kCaps, *both[which]);
    run.publish(1, 7);
    run.start();
    found[which] = run.generate(someRequests(12, config.vocab, 5));
  }
  if (type == DataType::BFloat16) // roundings fall differently, and tokens with them
    return;
  for (std::size_t index = 0; index < found[0].size(); ++index) {
    ASSERT_EQ(found[0][index].tokens, found[1][index].tokens);
    for (std::size_t at = 0; at < found[0][index].drawn.size(); ++at)
      EXPECT_NEAR(found[0][index].logProbabilities[at], found[1][index].logProbabilities[at],
                  type == DataType::Float64 ? 1e-13 : 1e-5);
  }
}

// Regions hold no byte that nothing ever needs, but for what the kernels' workspaces leave.
TEST_P(EngineTest, RegionsAreUsedToTheirEnds) {
  constexpr EngineCaps kFull{.slots = 3, .rows = 32, .batchTokens = 12};
  const EngineRegions regions = engineRegions(config, kFull);
  GuardedRegion records(regions.recordBytes), cache(regions.cacheBytes),
      workspace(regions.workspaceBytes), weights = sharpWeights(config, kernels(), 7);
  const auto engine =
      Engine::make(config, splitLayers(config, 1), kFull, kernels(), records.data()).value();
  ASSERT_TRUE(engine->install(0, weights.data()).ok());
  ASSERT_TRUE(engine->publish(1).ok());
  ASSERT_TRUE(engine->wake(cache.data()).ok());
  ASSERT_TRUE(engine->resume().ok());
  const std::int32_t prompt[] = {1};
  for (std::uint32_t sample = 0; sample < 3; ++sample)
    ASSERT_TRUE(
        engine
            ->admit({.sample = sample, .tokens = prompt, .mostNew = 31, .sampling = {.topP = 0.9}})
            .ok());
  while (!engine->isFinished(2))
    ASSERT_TRUE(engine->step(workspace.data()).ok());
  // The last token is drawn and not computed with, and it is the first that has nothing behind it:
  // a row of values, and of records what the prompt's token would take.
  const std::uint64_t row = config.headWidth * sizeOf(type);
  EXPECT_GE(cache.usedBytes() + row + kRegionAlignment, regions.cacheBytes);
  EXPECT_GE(records.usedBytes() + 2 * sizeof(std::int64_t) + kRegionAlignment, regions.recordBytes);
  EXPECT_GT(workspace.usedBytes(), regions.kernels);
}

class OneEngine : public testing::Test {
protected:
  void SetUp() override {
    if (!nativeKernels(DataType::Float32))
      GTEST_SKIP() << nativeRefusal(DataType::Float32);
  }
  const Kernels &kernels = *nativeKernels(DataType::Float32);
  const ModelConfig config = configOf(kTestModels[0], DataType::Float32);
};

TEST_F(OneEngine, ContinuesAnAbortedResponseAsIfNothingHadBeen) {
  EngineRun run(config, kCaps, kernels);
  run.publish(1, 7);
  run.start();
  Asked asked{.request = {.prompt = 3, .seed = 9, .mostNew = 20}, .tokens = {1, 2, 3, 4, 5}};
  const Finished whole = run.generate({asked}).front();

  ASSERT_TRUE(run->admit(asked.view()).ok());
  for (int step = 0; step < 8; ++step)
    run.step();
  EXPECT_EQ(run->abort(3, 0), 1);
  const Finished part = run.take().front();
  EXPECT_EQ(part.finish, Finish::Aborted);
  ASSERT_EQ(part.drawn.size(), 8u);
  EXPECT_EQ(part.logProbabilities.size(), 8u);
  EXPECT_EQ(part.versions, std::vector<std::int64_t>(8, 1));

  asked.tokens = part.tokens;
  asked.request.continued = 8;
  const Finished rest = run.generate({asked}).front();
  EXPECT_EQ(rest.tokens, whole.tokens);
  EXPECT_EQ(rest.drawn.size(), 12u) << "what was drawn before counts";
  auto joined = part.logProbabilities;
  joined.insert(joined.end(), rest.logProbabilities.begin(), rest.logProbabilities.end());
  EXPECT_EQ(joined, whole.logProbabilities);
}

TEST_F(OneEngine, StopTokensEndAResponseAndBelongToIt) {
  EngineRun run(config, kCaps, kernels);
  run.publish(1, 7);
  run.start();
  Asked asked{.request = {.seed = 9, .mostNew = 20}, .tokens = {1, 2, 3}};
  const Finished free = run.generate({asked}).front();
  asked.stops = {free.drawn[5], free.drawn[11]};
  const Finished stopped = run.generate({asked}).front();
  EXPECT_EQ(stopped.finish, Finish::Stop);
  const auto first = std::find_first_of(free.drawn.begin(), free.drawn.end(), asked.stops.begin(),
                                        asked.stops.end());
  EXPECT_EQ(stopped.drawn, std::vector<std::int32_t>(free.drawn.begin(), first + 1));
}

TEST_F(OneEngine, AbortsAGroupAndLeavesTheOthers) {
  EngineRun run(config, {.slots = 6, .rows = kMostRows, .batchTokens = 6}, kernels);
  run.publish(1, 7);
  run.start();
  std::vector<Asked> asked;
  for (std::uint32_t index = 0; index < 6; ++index)
    asked.push_back({.request = {.prompt = index / 3, .sample = index % 3, .seed = 1, .mostNew = 9},
                     .tokens = {4, 5, 6}});
  const auto expected = run.generate(asked);
  for (const Asked &one : asked)
    ASSERT_TRUE(run->admit(one.view()).ok());
  for (int step = 0; step < 6; ++step) // some prompts are in by now, some not
    run.step();
  EXPECT_EQ(run->abort(1), 3);
  EXPECT_EQ(run->abort(1), 0);
  EXPECT_EQ(run->abort(7), 0);
  for (const Finished &one : run.take()) {
    EXPECT_EQ(one.prompt, 1u);
    EXPECT_EQ(one.finish, Finish::Aborted);
    EXPECT_EQ(one.drawn.size(), one.logProbabilities.size());
    const auto &whole = expected[3 + one.sample].drawn;
    EXPECT_EQ(one.drawn,
              std::vector<std::int32_t>(whole.begin(), whole.begin() + long(one.drawn.size())));
  }
  std::vector<Finished> rest;
  while (rest.size() < 3) {
    run.step();
    for (Finished &one : run.take())
      rest.push_back(std::move(one));
  }
  sort(rest);
  EXPECT_EQ(rest, std::vector<Finished>(expected.begin(), expected.begin() + 3));
}

TEST_F(OneEngine, SamplesOfAPromptHaveItComputedOnce) {
  EngineRun run(config, {.slots = 5, .rows = kMostRows, .batchTokens = 7}, kernels);
  run.publish(1, 7);
  run.start();
  std::vector<Asked> asked;
  for (std::uint32_t sample = 0; sample < 4; ++sample)
    asked.push_back({.request = {.prompt = 2, .sample = sample, .seed = 1, .mostNew = 3},
                     .tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});
  const auto rowsOf = [&](const std::vector<Asked> &all) {
    for (const Asked &one : all)
      EXPECT_TRUE(run->admit(one.view()).ok());
    std::uint32_t rows = 0;
    while (run->freeSlots() < 5) {
      rows += run.step().rows;
      run.take();
    }
    return rows;
  };
  // Ten of the prompt once, its last token by each of the others, two of each response.
  EXPECT_EQ(rowsOf(asked), 10u + 3 + 4 * 2);
  for (std::uint32_t prompt = 0; prompt < 4; ++prompt)
    asked[prompt].request.prompt = prompt;
  EXPECT_EQ(rowsOf(asked), 4u * 12) << "names of prompts say what may be shared";
}

TEST_F(OneEngine, WhoWaitsForAPromptGoesOnWhenItIsAborted) {
  EngineRun run(config, {.slots = 2, .rows = kMostRows, .batchTokens = 4}, kernels);
  run.publish(1, 7);
  run.start();
  Asked asked{.request = {.prompt = 2, .mostNew = 3},
              .tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const Finished expected = run.generate({asked}).front();
  Asked other = asked;
  other.request.sample = 1;
  ASSERT_TRUE(run->admit(other.view()).ok());
  ASSERT_TRUE(run->admit(asked.view()).ok());
  EXPECT_EQ(run.step().rows, 4u);
  EXPECT_EQ(run->abort(2, 1), 1);
  EXPECT_EQ(run.step().rows, 4u) << "behind the four that are there";
  std::vector<Finished> done;
  while (run->freeSlots() < 2) {
    run.step();
    for (Finished &one : run.take())
      done.push_back(std::move(one));
  }
  sort(done);
  EXPECT_EQ(done.front(), expected);
}

TEST_F(OneEngine, StepsAllocateNothing) {
  if (!allocationsSoFar())
    GTEST_SKIP() << "a sanitizer counts allocations here";
  EngineRun run(config, kCaps, kernels);
  run.publish(1, 7);
  run.start();
  run.generate(someRequests(6, config.vocab, 1));
  const auto asked = someRequests(4, config.vocab, 2);
  const std::uint64_t before = *allocationsSoFar();
  for (const Asked &one : asked) {
    GenerationRequest request = one.request;
    request.tokens = one.tokens;
    ASSERT_TRUE(run->admit(request).ok());
  }
  for (int step = 0; step < 30; ++step)
    run.step();
  EXPECT_EQ(*allocationsSoFar(), before);
}

TEST_F(OneEngine, WeightsThatAreNoNumbersEndIt) {
  const EngineRegions regions = engineRegions(config, kCaps);
  GuardedRegion records(regions.recordBytes), cache(regions.cacheBytes),
      workspace(regions.workspaceBytes), weights = sharpWeights(config, kernels, 7);
  const auto engine =
      Engine::make(config, splitLayers(config, 1), kCaps, kernels, records.data()).value();
  weights.poison();
  ASSERT_TRUE(engine->install(0, weights.data()).ok());
  ASSERT_TRUE(engine->publish(1).ok());
  ASSERT_TRUE(engine->wake(cache.data()).ok());
  ASSERT_TRUE(engine->resume().ok());
  const Asked asked{.request = {.prompt = 4, .sample = 2, .mostNew = 3}, .tokens = {1, 2}};
  ASSERT_TRUE(engine->admit(asked.view()).ok());
  const StatusOr<StepCounts> counts = engine->step(workspace.data());
  EXPECT_EQ(counts.status().code(), StatusCode::RankFailed);
  EXPECT_EQ(counts.status().message(),
            "the logits of sample 2 of prompt 4 at position 2 are no numbers");
}

} // namespace
} // namespace vime
