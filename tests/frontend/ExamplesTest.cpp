#include <gtest/gtest.h>

#include "schedules/Registry.h"
#include "tests/frontend/SampleJob.h"

namespace vime {
namespace {

TEST(Examples, AreLegalJobsNamedAfterTheirFolder) {
  ASSERT_GE(exampleJobs().size(), 4u);
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(contentsOf(path), path.string());
    EXPECT_EQ(job.name.value, path.parent_path().filename().string());
    EXPECT_NE(contentsOf(path.parent_path() / "README.md"), "") << path;
  }
}

// The text is cut into windows of one token more than a sequence; one step must not need more of
// them than there are.
TEST(Examples, BringTextEnoughForAStep) {
  for (const auto &path : exampleJobs()) {
    const Job job = legalJob(contentsOf(path), path.string());
    if (job.data.text.value == "corpus.txt")
      continue; // put there by scripts/demo
    const std::uint64_t bytes =
        std::filesystem::file_size(path.parent_path() / job.data.text.value);
    EXPECT_GE(bytes / (job.data.sequence.value + 1), job.batch.global.value) << path;
  }
}

} // namespace
} // namespace vime
