// Batch invariance: whatever the caps, whoever comes and goes when, however often the engine is
// paused, flushed, put to sleep or given other kernels of the same promise, a request has one
// answer.
#include <random>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "tests/engine/FullForward.h"
#include "tests/engine/TestModels.h"

namespace vime {
namespace {

class Schedules : public testing::TestWithParam<DataType> {
protected:
  void SetUp() override {
    if (!nativeKernels(GetParam()))
      GTEST_SKIP() << nativeRefusal(GetParam());
  }
  const Kernels &kernels() const { return *nativeKernels(GetParam()); }
  ModelConfig config() const { return fiveLayers(kTestModels[2], GetParam()); }
  /// Each request by itself, in one slot, its prompt at once.
  std::vector<Finished> alone(const std::vector<Asked> &asked) const {
    EngineRun run(config(), {.slots = 1, .rows = kMostRows, .batchTokens = kMostRows}, kernels());
    run.publish(1, 7);
    run.start();
    std::vector<Finished> all;
    for (const Asked &one : asked)
      all.push_back(run.generate({one}).front());
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Native, Schedules,
                         testing::Values(DataType::Float32, DataType::Float64, DataType::BFloat16),
                         [](const auto &info) { return nameOf(info.param); });

/// One thing that may happen between two steps.
void disturb(EngineRun &run, std::uint64_t choice) {
  if (choice > 3)
    return;
  ASSERT_TRUE(run->pause(Pause::Keep).ok());
  if (choice == 1) {
    ASSERT_TRUE(run->flush().ok());
  }
  if (choice == 2) {
    ASSERT_TRUE(run->sleep().ok());
    run.wake();
  }
  ASSERT_TRUE(run->resume().ok());
}

TEST_P(Schedules, DoNotChangeATokenOrALogProbability) {
  const auto asked = someRequests(24, config().vocab, 8);
  const std::vector<Finished> expected = alone(asked);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint32_t slots = 1 + random() % 20;
    const EngineCaps caps{.slots = slots,
                          .rows = std::uint32_t(kMostRows + random() % 30),
                          .batchTokens = std::uint32_t(slots + random() % 30)};
    SCOPED_TRACE(testing::Message() << "schedule " << seed << ": " << caps.slots << " slots, "
                                    << caps.batchTokens << " tokens a step");
    const auto stages = stagesOfFive();
    EngineRun run(config(), stages[seed % stages.size()], caps, kernels());
    run.publish(1, 7);
    run.start();
    std::vector<Asked> waiting = asked;
    std::shuffle(waiting.begin(), waiting.end(), random);
    std::vector<Finished> done;
    while (done.size() < asked.size()) {
      while (!waiting.empty() && run->freeSlots() > 0 && random() % 3 != 0) {
        ASSERT_TRUE(run->admit(waiting.back().view()).ok());
        waiting.pop_back();
      }
      disturb(run, random() % 16);
      EXPECT_LE(run.step().rows, caps.batchTokens);
      for (Finished &one : run.take())
        done.push_back(std::move(one));
    }
    sort(done);
    EXPECT_EQ(done, expected);
    EXPECT_TRUE(run.fencesIntact());
  }
}

TEST_P(Schedules, BothBuildsAgree) {
  std::vector<std::vector<Finished>> found;
  for (const Isa isa : {Isa::Avx2, Isa::Avx512})
    if (const Kernels *kernels = nativeKernelsFor(isa, GetParam())) {
      EngineRun run(config(), {.slots = 5, .rows = kMostRows, .batchTokens = 11}, *kernels);
      run.publish(1, 7);
      run.start();
      found.push_back(run.generate(someRequests(15, config().vocab, 9)));
    }
  if (found.size() < 2)
    GTEST_SKIP() << "this machine cannot run both builds";
  EXPECT_EQ(found[0], found[1]);
}

TEST_P(Schedules, OfOtherSeedsPromptsAndSamplesDiffer) {
  Asked asked{.request = {.mostNew = 20}, .tokens = {1, 2, 3}};
  std::vector<Asked> all(4, asked);
  all[1].request.seed = 1;
  all[2].request.prompt = 1;
  all[3].request.sample = 1;
  const auto done = alone(all);
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_NE(done[a].drawn, done[b].drawn) << a << " and " << b;
}

} // namespace
} // namespace vime
