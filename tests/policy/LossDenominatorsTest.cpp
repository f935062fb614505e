// LossDenominators: every unit by hand, and what has no denominator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Policy/LossDenominators.h"

namespace vime {
namespace {

using testing::ElementsAre;

/// Rollout 1 of prompt 0 fanned out into two samples; the last one has nothing to train.
const StepSequence kStep[] = {{.rollout = 1, .prompt = 0, .tokens = 3},
                              {.rollout = 1, .prompt = 0, .tokens = 2},
                              {.rollout = 2, .prompt = 0, .tokens = 5},
                              {.rollout = 3, .prompt = 1, .tokens = 4},
                              {.rollout = 4, .prompt = 1, .tokens = 0}};

std::vector<double> denominators(LossUnit unit, std::uint32_t constant = 0) {
  StatusOr<std::vector<double>> found = lossDenominators(unit, kStep, constant);
  EXPECT_TRUE(found.ok());
  return found.ok() ? *found : std::vector<double>{};
}

TEST(LossDenominators, CountTheWholeStep) {
  EXPECT_THAT(denominators(LossUnit::Token), ElementsAre(14, 14, 14, 14, 14));
  EXPECT_THAT(denominators(LossUnit::Sequence), ElementsAre(15, 10, 25, 20, 5));
  EXPECT_THAT(denominators(LossUnit::Rollout), ElementsAre(20, 20, 20, 16, 4));
  EXPECT_THAT(denominators(LossUnit::Prompt), ElementsAre(20, 20, 20, 8, 8));
  EXPECT_THAT(denominators(LossUnit::Constant, 8), ElementsAre(32, 32, 32, 32, 32));
}

TEST(LossDenominators, RefuseWhatCannotBeDivided) {
  EXPECT_EQ(lossDenominators(LossUnit::Constant, kStep).status().message(),
            "a loss divided by a constant has the constant 0");
  const StepSequence empty[] = {{1, 0, 0}};
  EXPECT_EQ(lossDenominators(LossUnit::Token, empty).status().message(),
            "no token of the step has mask 1");
  EXPECT_FALSE(lossDenominators(LossUnit::Token, {}).ok());
}

} // namespace
} // namespace vime
