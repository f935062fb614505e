// From logits to a token: which words may come, how often, and what is said of the one that does.
#include "runtime/Engine/Sampler.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "runtime/Engine/Draw.h"
#include "tests/engine/FullForward.h"
#include "tests/model/Values.h"

namespace vime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Words {
public:
  explicit Words(std::vector<double> logits, DataType type = DataType::Float64)
      : kernels(*referenceKernels(type)), logits(std::move(logits)), rows(this->logits.size()),
        weights(rows.size()), ranked(rows.size()),
        sampler(kernels, std::int32_t(rows.size()), weights.data(), ranked.data()) {
    store(this->logits, type, rows.data());
  }
  Drawn draw(const Sampling &sampling, double uniform) const {
    return sampler.draw(sampling, rows.data(), uniform);
  }
  /// Words that come at any of 1,000 evenly spread numbers.
  std::vector<std::int32_t> possible(const Sampling &sampling) const {
    std::vector<std::int32_t> found;
    for (int step = 0; step < 1000; ++step) {
      const std::int32_t token = draw(sampling, step / 1000.).token;
      if (found.empty() || found.back() != token)
        found.push_back(token);
    }
    return found;
  }

private:
  const Kernels &kernels;
  const std::vector<double> logits;
  std::vector<double> rows, weights;
  std::vector<std::int32_t> ranked;
  const Sampler sampler;
};

using Tokens = std::vector<std::int32_t>;

TEST(Sampler, WordsComeByAscendingId) {
  const Words words({std::log(0.1), std::log(0.6), std::log(0.3)});
  EXPECT_EQ(words.draw({}, 0).token, 0);
  EXPECT_EQ(words.draw({}, 0.0999).token, 0);
  EXPECT_EQ(words.draw({}, 0.1001).token, 1);
  EXPECT_EQ(words.draw({}, 0.6999).token, 1);
  EXPECT_EQ(words.draw({}, 0.7001).token, 2);
  EXPECT_EQ(words.draw({}, 1 - 0x1p-53).token, 2);
  EXPECT_NEAR(words.draw({}, 0.2).logProbability, std::log(0.6), 1e-12);
  EXPECT_EQ(words.draw({}, 0.2).sampledLogProbability, words.draw({}, 0.2).logProbability);
}

TEST(Sampler, BothLogProbabilitiesAreWhatTheyAreCalled) {
  const Words words({0, 1, 2, -1});
  const Drawn drawn = words.draw({.temperature = 0.5, .topK = 2}, 0.99);
  ASSERT_EQ(drawn.token, 2);
  const double all = std::exp(0.) + std::exp(1.) + std::exp(2.) + std::exp(-1.);
  EXPECT_NEAR(drawn.logProbability, 2 - std::log(all), 1e-12);
  EXPECT_NEAR(drawn.sampledLogProbability, 4 - std::log(std::exp(4.) + std::exp(2.)), 1e-12);
}

TEST(Sampler, TemperatureZeroTakesTheFirstOfTheLikeliest) {
  const Words words({1, 3, 2, 3, 0});
  EXPECT_EQ(words.possible({.temperature = 0}), Tokens({1}));
  EXPECT_EQ(words.draw({.temperature = 0}, 0.5).sampledLogProbability, 0);
  EXPECT_LT(words.draw({.temperature = 0}, 0.5).logProbability, std::log(0.5));
}

TEST(Sampler, TopKKeepsExactlyKAndOfEqualsTheFirst) {
  const Words words({1, 3, 3, 3, 0});
  EXPECT_EQ(words.possible({.topK = 1}), Tokens({1}));
  EXPECT_EQ(words.draw({.topK = 1}, 0.9).sampledLogProbability, 0);
  EXPECT_EQ(words.possible({.topK = 2}), Tokens({1, 2}));
  EXPECT_EQ(words.possible({.topK = 4}), Tokens({0, 1, 2, 3}));
  EXPECT_EQ(words.possible({.topK = 5}), Tokens({0, 1, 2, 3, 4}));
  EXPECT_EQ(words.possible({.topK = 99}), Tokens({0, 1, 2, 3, 4}));
  EXPECT_EQ(words.possible({.topK = 0}), Tokens({0, 1, 2, 3, 4}));
}

TEST(Sampler, TopPKeepsTheFewestWordsThatReachIt) {
  // Shares 0.5, 0.25, 0.125, 0.125, all of them exact.
  const Words words({std::log(0.125), std::log(0.5), std::log(0.125), std::log(0.25)});
  EXPECT_EQ(words.possible({.topP = 1e-9}), Tokens({1}));
  EXPECT_EQ(words.possible({.topP = 0.49}), Tokens({1}));
  EXPECT_EQ(words.possible({.topP = 0.51}), Tokens({1, 3}));
  EXPECT_EQ(words.possible({.topP = 0.76}), Tokens({0, 1, 3})) << "of equals the first";
  EXPECT_EQ(words.possible({.topP = 0.9}), Tokens({0, 1, 2, 3}));
  EXPECT_EQ(words.possible({.topP = 1}), Tokens({0, 1, 2, 3}));
}

TEST(Sampler, TopPCountsTheShareOfWhatTopKLeft) {
  const Words words({std::log(0.125), std::log(0.5), std::log(0.125), std::log(0.25)});
  // Of 0.5 and 0.25 alone the first has two thirds.
  EXPECT_EQ(words.possible({.topP = 0.66, .topK = 2}), Tokens({1}));
  EXPECT_EQ(words.possible({.topP = 0.67, .topK = 2}), Tokens({1, 3}));
}

TEST(Sampler, AWordThatCannotComeDoesNot) {
  const Words words({0, -kInfinity, 0, -1e4});
  EXPECT_EQ(words.possible({}), Tokens({0, 2}));
  EXPECT_EQ(words.possible({.topP = 0.999999}), Tokens({0, 2}));
}

TEST(Sampler, ATinyTemperatureIsGreedyAndAHugeOneUniform) {
  const Words words({1, 1.01, 0.5, -3});
  for (const double temperature : {1e-6, 1e-300, 5e-324})
    EXPECT_EQ(words.possible({.temperature = temperature}), Tokens({1}));
  EXPECT_NEAR(words.draw({.temperature = 1e9}, 0.9).sampledLogProbability, std::log(0.25), 1e-6);
}

TEST(Sampler, WhatIsNoNumberIsNotHidden) {
  for (const double bad : {std::nan(""), kInfinity})
    for (const Sampling sampling : {Sampling{}, {.temperature = 0}, {.topP = 0.5}, {.topK = 2}})
      EXPECT_FALSE(std::isfinite(Words({0, 1, bad, 2}).draw(sampling, 0.5).logProbability));
}

TEST(Sampler, RefusesWhatIsNoDistribution) {
  EXPECT_TRUE(check(Sampling{}).ok());
  EXPECT_EQ(check(Sampling{.temperature = -1}).message(),
            "a temperature of -1, expected at least 0");
  EXPECT_FALSE(check(Sampling{.temperature = std::nan("")}).ok());
  EXPECT_FALSE(check(Sampling{.temperature = kInfinity}).ok());
  EXPECT_EQ(check(Sampling{.topP = 0}).message(),
            "a top_p of 0, expected more than 0 and at most 1");
  EXPECT_FALSE(check(Sampling{.topP = 1.5}).ok());
  EXPECT_EQ(check(Sampling{.topK = -1}).message(), "a top_k of -1, expected at least 0");
}

/// Pearson's statistic of the draws, and its degrees of freedom.
struct Fit {
  double statistic = 0;
  int freedom = -1;
};

Fit fitOf(const Sampling &sampling, const std::vector<double> &logits, DataType type) {
  constexpr int kDraws = 8000;
  const Words words(logits, type);
  std::vector<int> counts(logits.size());
  for (std::uint32_t draw = 0; draw < kDraws; ++draw)
    ++counts[std::size_t(words.draw(sampling, uniformAt({3, draw % 80, 0, draw / 80})).token)];
  const std::vector<double> chance = distributionOf(sampling, logits);
  Fit fit;
  for (std::size_t word = 0; word < logits.size(); ++word) {
    const double expected = kDraws * chance[word];
    if (expected == 0) {
      EXPECT_EQ(counts[word], 0) << word;
      continue;
    }
    fit.statistic += (counts[word] - expected) * (counts[word] - expected) / expected;
    ++fit.freedom;
  }
  return fit;
}

// The limit is passed once in a thousand by chance: Wilson and Hilferty's approximation.
TEST(Sampler, DrawsAsOftenAsTheDistributionSays) {
  const std::vector<double> logits = {0.5, -1, 2, 1.25, 0, 1.5, -0.25, 0.75};
  for (const DataType type : {DataType::Float32, DataType::Float64, DataType::BFloat16})
    for (const Sampling sampling : {Sampling{},
                                    {.temperature = 0.6},
                                    {.temperature = 2.5},
                                    {.topK = 3},
                                    {.topP = 0.8},
                                    {.temperature = 1.5, .topP = 0.9, .topK = 6}}) {
      const auto [statistic, freedom] = fitOf(sampling, logits, type);
      const double spread = 2. / (9 * freedom);
      const double limit = freedom * std::pow(1 - spread + 3.09 * std::sqrt(spread), 3);
      EXPECT_LT(statistic, limit) << nameOf(type) << ", temperature " << sampling.temperature
                                  << ", top_p " << sampling.topP << ", top_k " << sampling.topK;
    }
}

} // namespace
} // namespace vime
