// Learning rates, as tables that a person can check.
#include "runtime/Exec/LearningRate.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

using plan::Decay;
using testing::DoubleNear;
using testing::ElementsAre;

std::vector<double> ratesOf(const plan::OptimizerSettings &settings, std::uint64_t steps) {
  std::vector<double> rates;
  for (std::uint64_t step = 0; step < steps; ++step)
    rates.push_back(learningRateOf(settings, steps, step));
  return rates;
}

TEST(LearningRate, ConstantUnlessAskedOtherwise) {
  EXPECT_THAT(ratesOf({.learningRate = 3e-4}, 3), ElementsAre(3e-4, 3e-4, 3e-4));
}

TEST(LearningRate, TheLastStepOfTheWarmupHasTheWholeRate) {
  EXPECT_THAT(ratesOf({.learningRate = 1, .warmup = 4}, 6), ElementsAre(0.25, 0.5, 0.75, 1, 1, 1));
}

TEST(LearningRate, FallsInEqualPartsToTheFloor) {
  EXPECT_THAT(ratesOf({.learningRate = 1, .warmup = 2, .decay = Decay::Linear, .floor = 0.5}, 6),
              ElementsAre(0.5, 1, 1, 0.875, 0.75, 0.625));
}

TEST(LearningRate, FallsAlongACosine) {
  EXPECT_THAT(ratesOf({.learningRate = 1, .decay = Decay::Cosine}, 4),
              ElementsAre(1, DoubleNear(0.8535533905932737, 1e-15), DoubleNear(0.5, 1e-15),
                          DoubleNear(0.14644660940672627, 1e-15)));
}

TEST(LearningRate, ARunOfWarmupAlone) {
  EXPECT_THAT(ratesOf({.learningRate = 1, .warmup = 2, .decay = Decay::Cosine}, 2),
              ElementsAre(0.5, 1));
}

} // namespace
} // namespace vime
