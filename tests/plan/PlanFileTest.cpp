// Plans as files: what is written comes back, the same plan is the same bytes, files are replaced
// at once.
#include "runtime/Plan/PlanFile.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/CheckPlan.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;
using testing::HasSubstr;
namespace fs = std::filesystem;

class PlanFile : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("plan-" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const char *name = "plan.bin") const { return (folder / name).string(); }
  std::size_t filesInFolder() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_F(PlanFile, ComesBackAsItWas) {
  for (const char *exportTo : {"", "model"}) {
    Plan plan = smallPlan({.exportTo = exportTo});
    if (*exportTo)
      plan.checkpoint = {"out/small.ckpt", 100, 3};
    ASSERT_TRUE(checkPlan(plan).ok()) << checkPlan(plan).message();
    ASSERT_TRUE(writePlan(plan, path()).ok());
    const StatusOr<Plan> back = readPlan(path());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, plan);
    EXPECT_EQ(contentOf(path()), serializePlan(plan));
  }
}

TEST_F(PlanFile, LoopsInLoopsComeBack) {
  const Plan plan = foldedPlan({.exportTo = "model"});
  ASSERT_TRUE(checkPlan(plan).ok()) << checkPlan(plan).message();
  ASSERT_TRUE(writePlan(plan, path()).ok());
  const StatusOr<Plan> back = readPlan(path());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, plan);
  EXPECT_NE(planId(plan), planId(smallPlan({.exportTo = "model"})));
}

TEST_F(PlanFile, ARankReadsItsPartOnly) {
  const Plan plan = smallPlan();
  ASSERT_TRUE(writePlan(plan, path()).ok());
  const StatusOr<RankPlan> mine = readRankPlan(path(), 1);
  ASSERT_TRUE(mine.ok()) << mine.status().message();
  EXPECT_EQ(mine->rank, 1u);
  EXPECT_EQ(mine->id, planId(plan));

  Plan expected = plan;
  expected.programs[0] = {.stages = plan.programs[0].stages};
  expected.layouts[0] = {};
  expected.job.clear();
  expected.predictions = {};
  expected.origins.clear();
  EXPECT_EQ(mine->plan, expected);
}

TEST_F(PlanFile, NoSuchRank) {
  ASSERT_TRUE(writePlan(smallPlan(), path()).ok());
  const StatusOr<RankPlan> none = readRankPlan(path(), 2);
  EXPECT_EQ(none.status().code(), StatusCode::Unacceptable);
  EXPECT_EQ(none.status().message(), "the plan has 2 ranks, there is no rank 2");
}

// Canonical: if this number changes without a change of SmallPlan, plans have changed their bytes.
// Then raise kFormatVersion unless no plan can be around.
TEST(PlanBytes, TheSamePlanIsTheSameBytesEverywhere) {
  EXPECT_EQ(toHex(planId(smallPlan())), "a4bb61c918a6b93b68f588fdfc3c8745");
  EXPECT_EQ(serializePlan(smallPlan()), serializePlan(smallPlan()));
}

TEST(PlanBytes, IdIgnoresCompilerAndOrigins) {
  const Plan plan = smallPlan();
  Plan other = plan;
  other.compiler = "9.9.9";
  other.origins.clear();
  EXPECT_EQ(planId(other), planId(plan));
  EXPECT_NE(serializePlan(other), serializePlan(plan));
}

TEST(PlanBytes, IdSeesEverythingElse) {
  const Plan plan = smallPlan();
  const auto changed = [&](const auto &change) {
    Plan other = plan;
    change(other);
    return planId(other) != planId(plan);
  };
  EXPECT_TRUE(changed([](Plan &p) { p.job += " "; }));
  EXPECT_TRUE(changed([](Plan &p) { p.run.seed = 8; }));
  EXPECT_TRUE(changed([](Plan &p) { p.checkpoint.keep = 1; }));
  EXPECT_TRUE(changed([](Plan &p) { p.programs[1].actions[3].time += 1; }));
  EXPECT_TRUE(
      changed([](Plan &p) { std::swap(p.programs[0].operands[0], p.programs[0].operands[1]); }));
  EXPECT_TRUE(changed([](Plan &p) { p.programs[0].lanes[2].slots = 3; }));
  EXPECT_TRUE(changed([](Plan &p) { p.layouts[1].buffers[2].count = 3; }));
  EXPECT_TRUE(changed([](Plan &p) { p.connect.clear(); }));
  EXPECT_TRUE(changed([](Plan &p) { p.predictions.bubble = 0; }));
  EXPECT_TRUE(changed([](Plan &p) { p.models[0].config.layers = 3; }));
}

TEST_F(PlanFile, ReplacesAtOnceAndLeavesNothingElse) {
  ASSERT_TRUE(writePlan(smallPlan({.steps = 1}), path()).ok());
  ASSERT_TRUE(writePlan(smallPlan({.steps = 2}), path()).ok());
  EXPECT_EQ(readPlan(path())->run.steps, 2u);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(PlanFile, AFailureLeavesTheOldFile) {
  ASSERT_TRUE(writePlan(smallPlan(), path()).ok());
  Plan broken = smallPlan();
  broken.programOf = {0, 7};
  const Status status = writePlan(broken, path());
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(status.message(), "internal error: rank 1 has program 7 of 2");
  EXPECT_TRUE(readPlan(path()).ok());
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(PlanFile, CannotBeWrittenWhereThereIsNoFolder) {
  const Status status = writePlan(smallPlan(), path("no/plan.bin"));
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_EQ(status.message(),
            "cannot write `" + path("no/plan.bin") + "`: No such file or directory");
}

TEST_F(PlanFile, CannotReplaceAFolder) {
  fs::create_directory(path("folder"));
  EXPECT_EQ(writePlan(smallPlan(), path("folder")).code(), StatusCode::File);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(PlanFile, AFullDiskIsAnErrorAndADeviceStaysOne) {
  const Status status = writePlan(smallPlan(), "/dev/full");
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_EQ(status.message(), "cannot write `/dev/full`: No space left on device");
  EXPECT_TRUE(writePlan(smallPlan(), "/dev/null").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(PlanFile, ALinkStaysALink) {
  ASSERT_TRUE(writePlan(smallPlan({.steps = 1}), path("real.bin")).ok());
  fs::create_symlink(path("real.bin"), path());
  ASSERT_TRUE(writePlan(smallPlan({.steps = 2}), path()).ok());
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_EQ(readPlan(path("real.bin"))->run.steps, 2u);
}

TEST_F(PlanFile, WhatCannotBeReadIsAFileError) {
  EXPECT_EQ(readPlan(path("none")).status().code(), StatusCode::File);
  EXPECT_THAT(readPlan(path("none")).status().message(), HasSubstr("No such file or directory"));
  EXPECT_EQ(readRankPlan(folder.string(), 0).status().message(),
            "cannot read `" + folder.string() + "`: it is a directory");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(readPlan(path("pipe")).status().message(),
              HasSubstr("not a regular file")); // and does not hang
}

} // namespace
} // namespace vime
