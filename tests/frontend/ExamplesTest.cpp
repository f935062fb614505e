#include <gtest/gtest.h>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

TEST(Examples, AreLegalJobsNamedAfterTheirFolder) {
  ASSERT_GE(exampleJobs().size(), 4u);
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(exampleText(path), path.string());
    EXPECT_EQ(job.name.value, path.parent_path().filename().string());
    EXPECT_NE(contentsOf(path.parent_path() / "README.md"), "") << path;
  }
}

// Whatever a sample is, there must be enough of them.
TEST(Examples, BringTextEnoughForAStep) {
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(exampleText(path), path.string());
    if (job.data.text.value == "corpus.txt")
      continue; // put there before it runs
    if (hasRounds(job))
      continue; // it draws prompts, of which the compiler has read every line
    const auto text = TextDataset::open(pathFromJob(path.string(), job.data.text.value),
                                        batchShapeOf(job), /*seed=*/0);
    EXPECT_TRUE(text.ok()) << path << ": " << text.status().message();
  }
}

} // namespace
} // namespace vime
