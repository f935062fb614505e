// Parts of a model from times of its stages: exact where stages tell them apart, by their work
// where they do not.
#include "compiler/Machine/FitParts.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

constexpr PartWork kWork{.layer = {100, 1}, .embedding = {0, 1}, .head = {60, 1}};
constexpr double kLayer = 0.010, kEmbedding = 0.001, kHead = 0.004;

std::vector<StageTime> stagesOf(const std::vector<std::uint32_t> &layers) {
  std::vector<StageTime> stages;
  std::uint32_t first = 0;
  for (const std::uint32_t count : layers) {
    const bool isFirst = stages.empty(), isLast = stages.size() + 1 == layers.size();
    stages.push_back({{first, first + count, isFirst, isLast},
                      count * kLayer + (isFirst ? kEmbedding : 0) + (isLast ? kHead : 0)});
    first += count;
  }
  return stages;
}

TEST(FitParts, StagesOfDifferentSizesTellThePartsApart) {
  const FittedParts parts = fitParts(stagesOf({2, 3, 2, 1}), kWork);
  EXPECT_NEAR(parts.layer, kLayer, 0.02 * kLayer);
  EXPECT_NEAR(parts.head, kHead, 0.25 * kHead);
}

// Two stages are two equations for three parts: what is measured comes back, and what it consists
// of is divided by the work.
TEST(FitParts, StagesAreWhatTheirPartsAddUpTo) {
  for (const auto &layers : {std::vector<std::uint32_t>{4, 4}, {2, 2, 2, 2}, {8}, {5, 3}}) {
    const std::vector<StageTime> stages = stagesOf(layers);
    const FittedParts parts = fitParts(stages, kWork);
    for (const StageTime &stage : stages) {
      const double again = (stage.range.end - stage.range.first) * parts.layer +
                           (stage.range.embedding ? parts.embedding : 0) +
                           (stage.range.head ? parts.head : 0);
      EXPECT_NEAR(again, stage.seconds, 0.01 * stage.seconds);
    }
    EXPECT_GE(parts.embedding, 0);
    EXPECT_GT(parts.head, 0);
  }
}

// Stages that vary by 5 % do not tell an end that takes a hundredth of them: it has its share of
// the work, whichever of the two was the slower one.
TEST(FitParts, AnEndThatIsLessThanTheNoiseHasItsShareOfTheWork) {
  constexpr PartWork kSmallEnds{.layer = {100, 1}, .embedding = {1, 1}, .head = {2, 1}};
  for (const double noise : {-0.05, 0.05}) {
    const std::vector<StageTime> stages = {{{0, 4, true, false}, 0.0401 * (1 + noise), 0.05},
                                           {{4, 8, false, true}, 0.0402 * (1 - noise), 0.05}};
    const FittedParts parts = fitParts(stages, kSmallEnds);
    EXPECT_NEAR(parts.head, 0.02 * parts.layer, 0.01 * parts.layer) << noise;
    EXPECT_NEAR(parts.embedding, 0.01 * parts.layer, 0.01 * parts.layer) << noise;
  }
}

TEST(FitParts, APartThatNoStageHasIsTakenByItsWork) {
  const std::vector<StageTime> stages = {{{4, 8, false, false}, 0.040}};
  const FittedParts parts = fitParts(stages, kWork);
  EXPECT_NEAR(parts.layer, 0.010, 1e-6);
  EXPECT_NEAR(parts.head, 0.006, 1e-6);
  EXPECT_NEAR(parts.embedding, 0.002, 1e-6);
}

TEST(FitParts, APartWithoutWorkTakesNothing) {
  const PartWork lossOnly{.layer = {}, .embedding = {}, .head = {0, 10}};
  const std::vector<StageTime> stages = {{{6, 8, false, true}, 0.003}};
  const FittedParts parts = fitParts(stages, lossOnly);
  EXPECT_EQ(parts.layer, 0);
  EXPECT_NEAR(parts.head, 0.003, 0.0001);
}

// The slower of two equal stages is the one without the head: less than nothing takes nothing.
TEST(FitParts, NoPartIsNegative) {
  const std::vector<StageTime> stages = {{{0, 4, true, false}, 0.060},
                                         {{4, 8, false, true}, 0.040}};
  const FittedParts parts = fitParts(stages, kWork);
  EXPECT_GE(parts.layer, 0);
  EXPECT_GE(parts.embedding, 0);
  EXPECT_GE(parts.head, 0);
  EXPECT_NEAR(4 * parts.layer, 0.050, 0.012);
}

// Of a user's module nobody knows the work.
TEST(FitParts, WithoutAnyWorkStagesStillAddUp) {
  const std::vector<StageTime> stages = stagesOf({2, 3, 2, 1});
  const FittedParts parts = fitParts(stages, {});
  EXPECT_NEAR(parts.layer, kLayer, 0.1 * kLayer);
  EXPECT_NEAR(2 * parts.layer + parts.embedding, stages[0].seconds, 0.05 * stages[0].seconds);
}

TEST(FitParts, NothingIsNothing) {
  EXPECT_EQ(fitParts({}, kWork).layer, 0);
  const std::vector<StageTime> still = {{{0, 4, true, true}, 0}};
  EXPECT_EQ(fitParts(still, kWork).layer, 0);
}

} // namespace
} // namespace vime
