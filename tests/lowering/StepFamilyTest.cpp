// Which numbers of microbatches the steps of a job can have.
#include "compiler/Lowering/StepFamily.h"

#include <numeric>

#include <gtest/gtest.h>

#include "compiler/Frontend/Microbatch.h"
#include "runtime/Plan/Decisions.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using Family = std::vector<std::uint32_t>;

/// Steps of 3 microbatches of 2 samples of 8 tokens; a text of so many samples.
Family familyOf(std::uint64_t samples, const char *tail = "short", std::uint64_t steps = 100) {
  Job job = jobOf({.microbatches = 3});
  job.data.tail.value = tail;
  job.run.steps.value = steps;
  return stepFamily(job, samples);
}

TEST(StepFamily, AWholeStepUnlessTheTextEndsWithAShortOne) {
  EXPECT_EQ(familyOf(12), (Family{3}));
  EXPECT_EQ(familyOf(14), (Family{1, 3}));
  EXPECT_EQ(familyOf(15), (Family{2, 3})); // two samples and one
  EXPECT_EQ(familyOf(17), (Family{3}));    // as many microbatches, fewer tokens
}

TEST(StepFamily, OnlyWhatOccurs) {
  EXPECT_EQ(familyOf(14, "join"), (Family{3}));
  EXPECT_EQ(familyOf(14, "drop"), (Family{3}));
  EXPECT_EQ(familyOf(14, "short", 2), (Family{3})); // ends before the epoch does
  EXPECT_EQ(familyOf(14, "short", 3), (Family{1, 3}));
}

TEST(StepFamily, ReplicasShareAShortStep) {
  Job job = jobOf({.microbatches = 3, .replicas = 2}); // 12 samples a step
  job.data.tail.value = "short";
  job.run.steps.value = 100;
  EXPECT_EQ(stepFamily(job, 12 + 1), (Family{1, 3}));
  EXPECT_EQ(stepFamily(job, 12 + 5), (Family{2, 3})); // three microbatches: two and one
  EXPECT_EQ(stepFamily(job, 12 + 9), (Family{3}));    // five: three and two
  EXPECT_TRUE(fillsUp(job));
  job.data.tail.value = "join";
  EXPECT_FALSE(fillsUp(job));
}

/// Steps of packed samples that need so many microbatches.
Family packed(Family needed, std::uint32_t whole) {
  Job job = jobOf({.microbatches = whole});
  job.pipeline.microbatch.value = {.count = 16, .inOther = true};
  job.packedSteps = std::move(needed);
  EXPECT_TRUE(fillsUp(job));
  return stepFamily(job, 1000);
}

TEST(StepFamily, PackedStepsHaveWhatOccursAndTheWholeStep) {
  EXPECT_EQ(packed({3, 5}, 5), (Family{3, 5}));
  EXPECT_EQ(packed({3, 5}, 6), (Family{3, 5, 6})); // the order wants an even number
  EXPECT_EQ(packed({}, 4), (Family{4}));           // the text has not been read
}

TEST(StepFamily, OfMoreNumbersThanAPlanCanNameItHasSome) {
  Family needed(40);
  std::iota(needed.begin(), needed.end(), 1u);
  EXPECT_EQ(packed(needed, 40), needed);
  needed.resize(5000);
  std::iota(needed.begin(), needed.end(), 1u);
  const Family some = packed(needed, 5000);
  EXPECT_EQ(some.size(), plan::kMostValues);
  EXPECT_EQ(some.back(), 5000u);
}

TEST(StepFamily, AShorterOrderIsTheLongerOneWithoutWhatIsNotThere) {
  const Schedule order{{0},
                       {{{TaskKind::Forward, 0, 0},
                         {TaskKind::Forward, 0, 1},
                         {TaskKind::Idle, 0, 0},
                         {TaskKind::Backward, 0, 0},
                         {TaskKind::Backward, 0, 1}}}};
  const std::vector<Task> expected = {{TaskKind::Forward, 0, 0}, {TaskKind::Backward, 0, 0}};
  EXPECT_EQ(shortened(order, 1).rows[0], expected);
}

TEST(StepFamily, AnEvaluationHasAsManyAsAStepUnlessStated) {
  Job job = jobOf({.microbatches = 3});
  EXPECT_EQ(evaluationMicrobatches(job), 0u);
  EXPECT_EQ(mostMicrobatches(job), 3u);
  job.evaluation.text.value = "held-out.txt";
  EXPECT_EQ(evaluationMicrobatches(job), 3u);
  EXPECT_EQ(evaluationBatch(job), 6u);
  job.evaluation.microbatches.value = 7;
  EXPECT_EQ(mostMicrobatches(job), 7u);
  EXPECT_EQ(evaluationBatch(job), 14u);
  job.evaluation.microbatches.value = 0;
  job.evaluation.samples.value = 5;
  EXPECT_EQ(evaluationMicrobatches(job), 3u); // two, two and one
  EXPECT_EQ(evaluationBatch(job), 5u);
}

TEST(StepFamily, ReplicasShareAnEvaluation) {
  Job job = jobOf({.microbatches = 3, .replicas = 2});
  job.evaluation.text.value = "held-out.txt";
  EXPECT_EQ(evaluationMicrobatches(job), 3u);
  EXPECT_EQ(evaluationBatch(job), 12u);
  job.evaluation.microbatches.value = 5;
  EXPECT_EQ(evaluationMicrobatches(job), 3u); // three and two
  EXPECT_EQ(evaluationBatch(job), 10u);
}

} // namespace
} // namespace vime
