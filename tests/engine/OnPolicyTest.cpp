// The first step of a round: the trainer finds the log-probabilities that the engine wrote down, so
// that the ratio is 1 and the KL to a reference of the same weights 0, exactly, whatever the
// stages, the packing and the number of microbatches. The engine reads the trainer's own weights.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "tests/engine/EngineRun.h"
#include "tests/engine/TestModels.h"
#include "tests/model/ModelRun.h"

namespace vime {
namespace {

constexpr MicrobatchCaps kCaps{.tokens = 100, .segments = 6, .segmentTokens = kMostRows};

using Case = std::tuple<DataType, TestModel>;

class OnPolicy : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (!nativeKernels(type))
      GTEST_SKIP() << nativeRefusal(type);
  }
  const DataType type = std::get<0>(GetParam());
  const ModelConfig config = fiveLayers(std::get<1>(GetParam()), type);
  const Kernels &kernels() const { return *nativeKernels(type); }

  ModelRun trainer(std::uint32_t stages) const {
    ModelRun run(config, stages, kCaps, kernels(), 1);
    for (ModelRun::Part &part : run.parts) {
      const GuardedRegion weights = sharpWeights(config, kernels(), 7, part.spec.range);
      std::memcpy(part.weights.data(), weights.data(), weights.bytes());
    }
    return run;
  }
  std::vector<Finished> generate(const ModelRun &trainer) const {
    std::vector<StageRange> stages;
    for (const ModelRun::Part &part : trainer.parts)
      stages.push_back(part.spec.range);
    EngineRun run(config, stages, {.slots = 5, .rows = kMostRows, .batchTokens = 13}, kernels());
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
      EXPECT_TRUE(run->install(std::uint32_t(stage), trainer.parts[stage].weights.data()).ok());
    EXPECT_TRUE(run->publish(1).ok());
    run.start();
    return run.generate(someRequests(18, config.vocab, 5));
  }
};

INSTANTIATE_TEST_SUITE_P(Native, OnPolicy,
                         testing::Combine(testing::Values(DataType::Float32, DataType::Float64,
                                                          DataType::BFloat16),
                                          testing::ValuesIn(kTestModels)),
                         [](const auto &info) {
                           return std::string(nameOf(std::get<0>(info.param))) + "_" +
                                  std::get<1>(info.param).name;
                         });

/// Inputs are all tokens but the last; what is said of a token stands where it is the label.
void append(PolicyBatch &batch, const Finished &sample) {
  const std::size_t inputs = sample.tokens.size() - 1;
  const std::size_t prompt = inputs - sample.drawn.size();
  batch.tokens.insert(batch.tokens.end(), sample.tokens.begin(), sample.tokens.end() - 1);
  batch.offsets.push_back(std::int32_t(batch.tokens.size()));
  batch.labels.insert(batch.labels.end(), prompt, -1);
  batch.labels.insert(batch.labels.end(), sample.drawn.begin(), sample.drawn.end());
  const auto extend = [&](std::vector<double> &to, const std::vector<double> &of) {
    to.insert(to.end(), prompt, 0.);
    to.insert(to.end(), of.begin(), of.end());
  };
  extend(batch.old, sample.logProbabilities);
  extend(batch.sampled, sample.sampledLogProbabilities);
  batch.advantages.resize(batch.tokens.size(), double(sample.sample) - 1);
  batch.denominators.push_back(100);
}

/// Random microbatches, as full as the caps let them be or only half.
std::vector<PolicyBatch> pack(std::vector<Finished> samples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::shuffle(samples.begin(), samples.end(), random);
  const std::size_t room = seed % 2 ? kCaps.tokens : kMostRows;
  std::vector<PolicyBatch> all;
  for (const Finished &sample : samples) {
    if (all.empty() || all.back().tokens.size() + sample.tokens.size() > room ||
        all.back().denominators.size() == kCaps.segments)
      all.emplace_back().offsets = {0};
    append(all.back(), sample);
  }
  return all;
}

TEST_P(OnPolicy, RatioIsOneAndTheKlZero) {
  const PolicyLossSettings settings{.kl = KlTerm{KlEstimator::K3, 0.1}, .entropy = 0.01};
  for (const std::uint32_t stages : {1u, 2u, 4u}) {
    ModelRun run = trainer(stages);
    const std::vector<Finished> samples = generate(run);
    for (std::uint64_t packing = 0; packing < 4; ++packing) {
      SCOPED_TRACE(testing::Message() << stages << " stages, packing " << packing);
      std::size_t tokens = 0;
      for (PolicyBatch &batch : pack(samples, packing)) {
        run.pass(batch);
        batch.reference = run.logProbabilities(batch);
        for (std::size_t token = 0; token < batch.labels.size(); ++token)
          if (batch.labels[token] >= 0) {
            ASSERT_EQ(batch.reference[token], batch.old[token]) << "token " << token;
          }
        const plan::PolicyNumbers numbers = run.policyLoss(batch, settings);
        EXPECT_EQ(numbers.ratio, numbers.tokens);
        EXPECT_EQ(numbers.drift, 0);
        EXPECT_EQ(numbers.kl, 0);
        EXPECT_EQ(numbers.clipped, 0);
        EXPECT_GT(numbers.entropy, 0);
        tokens += std::size_t(numbers.tokens);
      }
      EXPECT_EQ(tokens, std::accumulate(samples.begin(), samples.end(), std::size_t(0),
                                        [](std::size_t sum, const Finished &one) {
                                          return sum + one.drawn.size();
                                        }));
    }
    EXPECT_TRUE(run.fencesIntact());
  }
}

} // namespace
} // namespace vime
