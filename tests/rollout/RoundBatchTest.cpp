#include "runtime/Rollout/RoundBatch.h"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const plan::DataSettings kData = {.samples = 3, .tokens = 8};

/// A round whose sample `place` has so many tokens; token t of it is 1000 · place + t.
class MadeRound {
public:
  struct Length {
    std::uint32_t prompt, response;
  };
  MadeRound(std::uint32_t steps, std::vector<Length> lengths) : lengths(lengths) {
    settings.rollout = {.steps = steps,
                        .prompts = std::uint32_t(lengths.size()),
                        .samples = 1,
                        .maxPrompt = 6,
                        .maxNew = 6};
    bytes.resize(plan::roundBytes(settings));
    reinterpret_cast<plan::BatchHeader *>(bytes.data())->count = lengths.size();
    for (std::uint32_t place = 0; place < lengths.size(); ++place)
      fill(place);
  }
  plan::SampleRecord &record(std::uint32_t place) {
    return *reinterpret_cast<plan::SampleRecord *>(
        plan::recordAt(bytes.data(), plan::sampleStride(settings.rollout), place));
  }
  std::uint32_t inputs(std::uint32_t place) const {
    return lengths[place].prompt + lengths[place].response - 1;
  }

  const std::vector<Length> lengths;
  plan::RoundSettings settings;
  std::vector<std::byte> bytes;

private:
  void fill(std::uint32_t place) {
    const auto [prompt, response] = lengths[place];
    record(place) = {.promptTokens = prompt,
                     .tokens = prompt + response,
                     .advantage = 0.5 + place,
                     .denominator = 10.0 + place};
    auto *at = reinterpret_cast<std::byte *>(&record(place));
    for (std::uint32_t token = 0; token < prompt + response; ++token)
      plan::tokensOf(at, settings.rollout)[token] = std::int32_t(1000 * place + token);
    for (std::uint32_t token = 0; token < response; ++token) {
      plan::logProbabilitiesOf(at)[token] = -(1000.0 * place + prompt + token);
      plan::sampledOf(at, settings.rollout)[token] = -0.5 * (1000.0 * place + prompt + token);
    }
  }
};

/// The slots of a microbatch.
struct Filled {
  Filled(const RoundBatch &batch, RoundBatch::Place place, const plan::DataSettings &data)
      : tokens(data.tokens, -7), labels(data.tokens, -7), segments(data.samples + 1, -7),
        region(plan::policyRegion(data.tokens, data.samples)),
        policy(region.bytes / sizeof(double), -7) {
    batch.fill(place, {tokens.data(), labels.data(), segments.data(),
                       reinterpret_cast<std::byte *>(policy.data())});
    count = batch.tokensOf(place);
  }
  double advantage(std::uint32_t at) const { return policy[region.advantages / 8 + at]; }
  double old(std::uint32_t at) const { return policy[region.old / 8 + at]; }
  double sampled(std::uint32_t at) const { return policy[region.sampled / 8 + at]; }
  double denominator(std::uint32_t segment) const {
    return policy[region.denominators / 8 + segment];
  }
  std::vector<std::int32_t> tokens, labels, segments;
  plan::PolicyRegion region;
  std::vector<double> policy;
  std::uint32_t count = 0;
};

TEST(RoundBatch, OneMicrobatchByHand) {
  MadeRound round(1, {{2, 2}, {1, 3}});
  const auto batch = RoundBatch::make(round.settings, kData, 1, 0, round.bytes.data());
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_EQ(batch->microbatches(), 1u);
  EXPECT_EQ(batch->samples(), 2u);
  const Filled filled(*batch, {}, kData);
  EXPECT_EQ(filled.count, 6u);
  EXPECT_THAT(filled.tokens, ElementsAre(0, 1, 2, 1000, 1001, 1002, -7, -7));
  EXPECT_THAT(filled.labels, ElementsAre(-1, 2, 3, 1001, 1002, 1003, -7, -7));
  EXPECT_THAT(filled.segments, ElementsAre(0, 3, 6, 6));
  const std::vector<double> old = {0, -2, -3, -1001, -1002, -1003},
                            advantages = {0, 0.5, 0.5, 1.5, 1.5, 1.5};
  for (std::uint32_t at = 0; at < 6; ++at) {
    EXPECT_EQ(filled.old(at), old[at]);
    EXPECT_EQ(filled.sampled(at), old[at] / 2);
    EXPECT_EQ(filled.advantage(at), advantages[at]);
  }
  EXPECT_EQ(filled.denominator(0), 10);
  EXPECT_EQ(filled.denominator(1), 11);
}

TEST(RoundBatch, ReplicasHaveAsManyMicrobatches) {
  // Inputs 5, 5 and 5: one each, the second replica's second one is empty.
  MadeRound round(1, {{3, 3}, {3, 3}, {3, 3}});
  const auto batch = RoundBatch::make(round.settings, kData, 2, 0, round.bytes.data());
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_EQ(batch->microbatches(), 2u);
  EXPECT_EQ(batch->tokensOf({0, 0}), 5u);
  EXPECT_EQ(batch->tokensOf({0, 1}), 5u);
  EXPECT_EQ(batch->tokensOf({1, 0}), 5u);
  EXPECT_EQ(batch->tokensOf({1, 1}), 0u);
  EXPECT_EQ(batch->tokensOf({1, 7}), 0u);
  for (const std::uint32_t microbatch : {1u, 7u})
    EXPECT_THAT(Filled(*batch, {1, microbatch}, kData).segments, ElementsAre(0, 0, 0, 0));
}

TEST(RoundBatch, RefusesWhatIsNotOfThisPlan) {
  MadeRound round(2, {{3, 3}, {3, 3}, {3, 3}, {3, 3}});
  const auto complaint = [&](plan::DataSettings data = kData, std::uint32_t step = 0) {
    const auto batch = RoundBatch::make(round.settings, data, 1, step, round.bytes.data());
    return batch.ok() ? "none" : batch.status().message();
  };
  EXPECT_EQ(complaint(), "none");
  EXPECT_THAT(complaint(kData, 2), HasSubstr("step 2 of a round of 2"));
  EXPECT_THAT(complaint({.samples = 3, .tokens = 4}), HasSubstr("a microbatch has room for 4"));
  EXPECT_THAT(complaint({.samples = 3, .tokens = 8, .microbatches = 1}),
              HasSubstr("needs 2 microbatches a replica, there is room for 1"));
  EXPECT_THAT(complaint({.samples = 3, .tokens = 8, .slices = 2}), HasSubstr("slices"));
  round.record(1).tokens = 3;
  EXPECT_THAT(complaint(), HasSubstr("sample 1 of a round has 3 tokens, 3 of them its prompt's"));
  reinterpret_cast<plan::BatchHeader *>(round.bytes.data())->count = 3;
  EXPECT_THAT(complaint(), HasSubstr("a round has 3 samples, the plan's have 4"));
  round.settings.rollout.prompts = 3;
  EXPECT_THAT(complaint(), HasSubstr("no whole number of samples"));
}

TEST(RoundBatch, EveryLabelledTokenOnceInARound) {
  std::mt19937 random(5);
  const auto upTo = [&](std::uint32_t most) { return 1 + std::uint32_t(random() % most); };
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint32_t steps = upTo(3), perStep = upTo(9), replicas = upTo(2);
    std::vector<MadeRound::Length> lengths(steps * perStep);
    for (auto &length : lengths)
      length = {upTo(6), upTo(6)};
    MadeRound round(steps, lengths);
    const plan::DataSettings data{.samples = upTo(4), .tokens = 11 + std::uint32_t(random() % 20)};
    std::map<std::int32_t, std::uint32_t> seen; // by label, in which step
    std::uint64_t labelled = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
      const auto batch = RoundBatch::make(round.settings, data, replicas, step, round.bytes.data());
      ASSERT_TRUE(batch.ok()) << batch.status().message();
      for (std::uint32_t replica = 0; replica < replicas; ++replica)
        for (std::uint32_t microbatch = 0; microbatch < batch->microbatches(); ++microbatch) {
          const Filled filled(*batch, {replica, microbatch}, data);
          ASSERT_LE(filled.count, data.tokens);
          ASSERT_EQ(std::uint32_t(filled.segments.back()), filled.count);
          for (std::uint32_t segment = 0, at = 0; segment < data.samples; ++segment)
            for (; at < std::uint32_t(filled.segments[segment + 1]); ++at) {
              if (filled.labels[at] < 0)
                continue;
              const std::int32_t label = filled.labels[at];
              const auto place = std::uint32_t(label) / 1000;
              EXPECT_EQ(label, filled.tokens[at] + 1);
              EXPECT_TRUE(seen.emplace(label, step).second);
              EXPECT_EQ(place / perStep, step);
              EXPECT_EQ(filled.old(at), -label);
              EXPECT_EQ(filled.advantage(at), 0.5 + place);
              EXPECT_EQ(filled.denominator(segment), 10.0 + place);
            }
        }
    }
    for (const auto &length : lengths)
      labelled += length.response;
    EXPECT_EQ(seen.size(), labelled);
  }
}

} // namespace
} // namespace vime
