// Which numbers of microbatches the steps of a job can have.
#include "compiler/Lowering/StepFamily.h"

#include <gtest/gtest.h>

#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using Family = std::vector<std::uint32_t>;

/// Steps of 3 microbatches of 2 samples of 8 tokens; a text of so many samples.
Family familyOf(std::uint64_t samples, const char *tail = "short", std::uint64_t steps = 100) {
  Job job = jobOf({.microbatches = 3});
  job.data.tail.value = tail;
  job.run.steps.value = steps;
  return stepFamily(job, samples * 9 + 5); // what fills no sample counts for nothing
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
  job.evaluation.microbatches.value = 7;
  EXPECT_EQ(mostMicrobatches(job), 7u);
}

} // namespace
} // namespace vime
