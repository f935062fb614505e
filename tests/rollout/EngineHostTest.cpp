// The engines of a plan on its buffers: who generates what, in which order, and what they refuse.
#include "runtime/Rollout/EngineHost.h"

#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "runtime/Plan/BatchCaps.h"
#include "tests/engine/EngineRun.h"
#include "tests/engine/TestModels.h"
#include "tests/rollout/MadeSamples.h"

namespace vime {
namespace {

bool always() { return true; }

/// One engine of so many, with the memory that the plan gives it.
class Host {
public:
  Host(std::uint32_t engines, std::uint32_t own) : made(engines) {
    plan.mesh.engines = engines;
    plan.round = made.settings;
    plan.round.rollout.slots = 2;
    plan.round.rollout.stepTokens = 5;
    plan.round.evaluation.sampling.temperature = 0;
    plan.run.seed = MadeSamples::kSeed;
    ModelConfig config = fiveLayers(kTestModels[0], DataType::Float32);
    config.vocab = 256;
    plan.models = {{.config = config, .stages = stagesOfFive()[1]}};
    const EngineRegions regions = engineRegions(config, plan::capsOf(plan.round.rollout));
    records.resize(regions.recordBytes);
    cache.resize(regions.cacheBytes);
    workspace.resize(regions.workspaceBytes);
    samples.resize(plan::samplesBytes(plan.round));
    kernels = nativeKernels(DataType::Float32);
    auto made = EngineHost::make(plan, plan.mesh.trainers() + own, *kernels, records.data());
    EXPECT_TRUE(made.ok()) << made.status().message();
    host = std::move(*made);
  }

  Status sync(std::int64_t version) {
    Status status = host->pause();
    if (status.ok())
      status = host->flush();
    weights.clear();
    for (const StageRange &stage : plan.models[0].stages)
      weights.push_back(
          sharpWeights(plan.models[0].config, *kernels, std::uint64_t(version), stage));
    for (std::uint32_t stage = 0; stage < weights.size() && status.ok(); ++stage)
      status = host->install(stage, static_cast<const std::byte *>(weights[stage].data()));
    if (status.ok())
      status = host->publish(version);
    return status.ok() ? host->resume() : status;
  }
  void start() {
    ASSERT_TRUE(host->wake(cache.data()).ok());
    ASSERT_TRUE(sync(/*version=*/3).ok());
  }
  Status generate(const std::vector<std::byte> &prompts,
                  const EngineHost::GoesOn &goesOn = always) {
    return host->generate(prompts.data(), workspace.data(), samples.data(), goesOn);
  }
  const plan::BatchHeader &header() const {
    return *reinterpret_cast<const plan::BatchHeader *>(samples.data());
  }
  const std::byte *record(std::uint64_t place) const {
    return plan::recordAt(samples.data(), plan::sampleStride(plan.round.rollout), place);
  }
  const plan::SampleRecord &sample(std::uint64_t place) const {
    return *reinterpret_cast<const plan::SampleRecord *>(record(place));
  }
  /// Of a record all that means something.
  std::string bytesOf(std::uint64_t place) const {
    const plan::SampleRecord &one = sample(place);
    const std::byte *at = record(place);
    const std::size_t drawn = one.tokens - one.promptTokens;
    std::string text(reinterpret_cast<const char *>(&one), sizeof(one));
    const auto add = [&](const void *from, std::size_t bytes) {
      text.append(static_cast<const char *>(from), bytes);
    };
    add(plan::logProbabilitiesOf(at), drawn * sizeof(double));
    add(plan::sampledOf(at, plan.round.rollout), drawn * sizeof(double));
    add(plan::tokensOf(at, plan.round.rollout), one.tokens * sizeof(std::int32_t));
    return text;
  }

  MadeSamples made;
  plan::Plan plan;
  const Kernels *kernels;
  std::unique_ptr<EngineHost> host;

private:
  std::vector<std::byte> records, cache, workspace, samples;
  std::vector<GuardedRegion> weights;
};

using Name = std::pair<std::uint64_t, std::uint32_t>; // draw and sample

std::map<Name, std::string> generated(std::uint32_t engines) {
  std::map<Name, std::string> all;
  for (std::uint32_t own = 0; own < engines; ++own) {
    Host host(engines, own);
    host.start();
    const Status status = host.generate(host.made.drawn(/*round=*/2));
    EXPECT_TRUE(status.ok()) << status.message();
    Name last{};
    for (std::uint64_t place = 0; place < host.header().count; ++place) {
      const plan::SampleRecord &sample = host.sample(place);
      const Name name{sample.draw, sample.sample};
      EXPECT_TRUE(place == 0 || last < name) << "by prompt and sample";
      last = name;
      EXPECT_TRUE(all.emplace(name, host.bytesOf(place)).second);
      EXPECT_EQ(sample.version, 3);
    }
  }
  return all;
}

TEST(EngineHost, GivesEverySampleTheSameBytesOnAnyNumberOfEngines) {
  const std::map<Name, std::string> alone = generated(1);
  EXPECT_EQ(alone.size(), 5u * 3u);
  EXPECT_EQ(generated(2), alone);
  EXPECT_EQ(generated(3), alone);
  EXPECT_EQ(generated(7).size(), alone.size()) << "also where some have nothing to do";
}

TEST(EngineHost, WhatItGeneratesIsWhatTheCoordinatorAsksFor) {
  Host host(1, 0);
  host.start();
  ASSERT_TRUE(host.generate(host.made.drawn(2)).ok());
  std::vector<std::byte> all(2 * plan::samplesBytes(host.plan.round));
  std::memcpy(all.data() + plan::samplesBytes(host.plan.round), &host.header(),
              plan::samplesBytes(host.plan.round));
  std::vector<std::byte> round = host.made.round();
  FunctionReward reward(
      [](const RewardRequest &request) { return double(request.responseTokens.size() % 2); });
  const StatusOr<ScoredRound> scored =
      scoreRound(host.made.source(2), reward, all.data(), round.data());
  ASSERT_TRUE(scored.ok()) << scored.status().message();
  EXPECT_EQ(scored->report.version, 3);
}

TEST(EngineHost, AnEvaluationHasItsOwnSampling) {
  Host host(1, 0);
  host.start();
  ASSERT_TRUE(host.generate(host.made.drawnEvaluation()).ok());
  EXPECT_EQ(host.header().isEvaluation, 1u);
  EXPECT_EQ(host.header().count, 3u * 4u);
  // The likeliest token each time: all samples of a prompt are the same response.
  for (std::uint64_t place = 1; place < 4; ++place)
    EXPECT_EQ(std::memcmp(plan::tokensOf(host.record(0), host.plan.round.rollout),
                          plan::tokensOf(host.record(place), host.plan.round.rollout),
                          host.sample(0).tokens * sizeof(std::int32_t)),
              0);
}

TEST(EngineHost, StopsBetweenTwoStepsWhenTheRunIsOver) {
  Host host(1, 0);
  host.start();
  int steps = 0;
  const Status status = host.generate(host.made.drawn(2), [&] { return ++steps < 3; });
  EXPECT_EQ(status.code(), StatusCode::Interrupted);
  EXPECT_EQ(steps, 3);
}

TEST(EngineHost, HandsOnWhatTheEngineRefuses) {
  Host host(1, 0);
  EXPECT_EQ(host.host->resume().message(), "the engine is resumed while it sleeps");
  host.start();
  EXPECT_EQ(host.host->install(0, nullptr).message(),
            "weights are installed while the engine runs");
  EXPECT_EQ(host.sync(3).message(), "version 3 is published after version 3");
}

struct Damage {
  const char *what;
  void (*apply)(std::byte *prompts, const plan::RolloutSettings &rollout);
  const char *message;
};

plan::PromptRecord &promptAt(std::byte *prompts, const plan::RolloutSettings &rollout,
                             std::uint32_t index) {
  return *reinterpret_cast<plan::PromptRecord *>(
      plan::recordAt(prompts, plan::promptStride(rollout), index));
}

class DamagedPrompts : public testing::TestWithParam<Damage> {};

TEST_P(DamagedPrompts, AreRefused) {
  Host host(1, 0);
  host.start();
  std::vector<std::byte> prompts = host.made.drawn(2);
  GetParam().apply(prompts.data(), host.plan.round.rollout);
  const Status status = host.generate(prompts);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_EQ(status.message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    EngineHost, DamagedPrompts,
    testing::Values(Damage{"Count",
                           [](std::byte *at, const plan::RolloutSettings &) {
                             reinterpret_cast<plan::BatchHeader *>(at)->count = 1ull << 40;
                           },
                           "1099511627776 prompts came, expected 5"},
                    Damage{"Samples",
                           [](std::byte *at, const plan::RolloutSettings &rollout) {
                             promptAt(at, rollout, 1).samples = 4;
                           },
                           "4 samples of draw 11 are wanted, expected 3"},
                    Damage{"Length",
                           [](std::byte *at, const plan::RolloutSettings &rollout) {
                             promptAt(at, rollout, 4).tokens = 5;
                           },
                           "the prompt of draw 14 has 5 tokens, expected 1 to 4"},
                    Damage{"Token",
                           [](std::byte *at, const plan::RolloutSettings &rollout) {
                             *reinterpret_cast<std::int32_t *>(&promptAt(at, rollout, 0) + 1) = 256;
                           },
                           "sample 0 of prompt 10 has token 256 of a vocabulary of 256"},
                    Damage{"Twice",
                           [](std::byte *at, const plan::RolloutSettings &rollout) {
                             promptAt(at, rollout, 1).draw = promptAt(at, rollout, 0).draw;
                           },
                           "draw 10 comes behind draw 10, expected them to ascend"}),
    [](const auto &one) { return one.param.what; });

} // namespace
} // namespace vime
