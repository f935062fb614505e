// The folder of a run's checkpoints: what appears when, what is cleared away, what is left alone.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Checkpoint/CheckpointShard.h"
#include "runtime/Checkpoint/Choose.h"
#include "tests/checkpoint/SavedRun.h"

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct CheckpointDirectory : testing::Test, SavedRun {
  Status shard(std::uint64_t steps, std::uint32_t stage) const {
    const StageSpec spec = savedStages(2)[stage];
    const StageBytes state = stateOf(spec, steps);
    return writeShard({directory, steps, stage, 2}, savedModel(), spec, state.memory());
  }
  Status commit(std::uint64_t steps) const {
    return commitCheckpoint({directory, {steps, steps, 0}, "id", identity}, savedModel(),
                            savedStages(2));
  }
};

TEST_F(CheckpointDirectory, AppearsWholeOrNotAtAll) {
  ASSERT_TRUE(save(1).ok());
  ASSERT_TRUE(shard(2, 0).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001", "step-000002.partial"));
  EXPECT_EQ(commit(2).code(), StatusCode::File); // a shard is missing
  EXPECT_EQ(chooseCheckpoint(directory, identity, 9)->checkpoint.manifest().progress.steps, 1u);
  ASSERT_TRUE(shard(2, 1).ok());
  ASSERT_TRUE(commit(2).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001", "step-000002"));
  EXPECT_EQ(chooseCheckpoint(directory, identity, 9)->checkpoint.manifest().progress.steps, 2u);
}

TEST_F(CheckpointDirectory, AShardOfAnotherStepIsNotTaken) {
  ASSERT_TRUE(save(1).ok());
  ASSERT_TRUE(shard(2, 0).ok());
  fs::copy(pathOf(1) + "/stage-00001-of-00002.safetensors",
           partialPath(directory, 2) / "stage-00001-of-00002.safetensors");
  EXPECT_THAT(commit(2).message(), HasSubstr("is not of step 2"));
}

TEST_F(CheckpointDirectory, OneOfTheSameStepIsReplaced) {
  ASSERT_TRUE(save(1).ok());
  fs::resize_file(pathOf(1) + "/checkpoint.json", 7);
  ASSERT_TRUE(save(1).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001"));
  EXPECT_TRUE(chooseCheckpoint(directory, identity, 9).ok());
}

TEST_F(CheckpointDirectory, TheOldestGo) {
  for (const std::uint64_t steps : {1, 2, 3, 30})
    ASSERT_TRUE(save(steps).ok());
  std::ofstream(pathOf(1) + "/notes.txt") << "mine";
  ASSERT_TRUE(pruneCheckpoints(directory, 3, 0).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001", "step-000002", "step-000003", "step-000030"));
  // 30 is of a run that went another way: not older, not ours to remove.
  ASSERT_TRUE(pruneCheckpoints(directory, 3, 2).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001", "step-000002", "step-000003", "step-000030"));
  EXPECT_TRUE(fs::exists(pathOf(1) + "/notes.txt"));
  EXPECT_FALSE(fs::exists(pathOf(1) + "/stage-00000-of-00002.safetensors"));
  ASSERT_TRUE(pruneCheckpoints(directory, 3, 1).ok());
  EXPECT_THAT(names(), ElementsAre("step-000001", "step-000003", "step-000030"));
}

TEST_F(CheckpointDirectory, ARunThatDoesNotResumeWantsItFree) {
  EXPECT_TRUE(checkCheckpointDirectory(directory, false).ok());
  ASSERT_TRUE(save(5).ok());
  const Status refused = CheckpointClaim::take(directory, false).status();
  EXPECT_EQ(refused.code(), StatusCode::File);
  EXPECT_THAT(refused.message(),
              HasSubstr("holds checkpoints of an earlier run, the newest behind step 5"));
  EXPECT_THAT(refused.message(), HasSubstr("help: "));
  EXPECT_TRUE(CheckpointClaim::take(directory, true).ok());
}

TEST_F(CheckpointDirectory, OneRunAtATime) {
  const auto first = CheckpointClaim::take(directory, true);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_THAT(CheckpointClaim::take(directory, true).status().message(),
              HasSubstr("another run saves its checkpoints in"));
}

TEST_F(CheckpointDirectory, WhatWasLeftUnfinishedGoesAndWhatIsNotOursStays) {
  ASSERT_TRUE(save(1).ok());
  ASSERT_TRUE(shard(2, 0).ok());
  std::ofstream(partialPath(directory, 2) / "stage-00001-of-00002.safetensors.17-0.partial") << "x";
  fs::create_directory(pathOf(3)); // half removed
  std::ofstream(pathOf(3) + "/stage-00000-of-00002.safetensors") << "x";
  fs::create_directory(fs::path(directory) / "step-mine.partial");
  std::ofstream(fs::path(directory) / "notes.txt") << "mine";
  { // the lock goes with the run
    const auto claim = CheckpointClaim::take(directory, true);
    ASSERT_TRUE(claim.ok()) << claim.status().message();
    EXPECT_THAT(names(),
                ElementsAre(".vime-lock", "notes.txt", "step-000001", "step-mine.partial"));
  }
  EXPECT_THAT(names(), ElementsAre("notes.txt", "step-000001", "step-mine.partial"));
}

TEST_F(CheckpointDirectory, CannotBeAFile) {
  std::ofstream(directory) << "x";
  EXPECT_THAT(CheckpointClaim::take(directory, false).status().message(),
              HasSubstr("exists and is not a directory"));
}

// A full disk, as far as a process can tell: its files may not grow any more.
TEST_F(CheckpointDirectory, AFullDiskIsAnErrorAndLeavesTheOlderOne) {
  ASSERT_TRUE(save(1).ok());
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = save(2);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_THAT(status.message(), HasSubstr("File too large"));
  EXPECT_TRUE(fs::is_empty(partialPath(directory, 2)));
  EXPECT_EQ(chooseCheckpoint(directory, identity, 9)->checkpoint.manifest().progress.steps, 1u);
}

} // namespace
} // namespace vime
