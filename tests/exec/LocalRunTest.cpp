// A whole plan, from its bytes to its last step, with ranks as threads.
#include "runtime/Exec/LocalRun.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Exec/CheckRun.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/exec/SmallJob.h"

namespace vime {
namespace {

using testing::HasSubstr;

class Recorder final : public RunObserver {
public:
  void stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) override {
    records.push_back(record);
    stats.assign(ranks.begin(), ranks.end());
  }
  void exported() override { ++exports; }
  void saved(std::uint64_t steps) override { savedSteps.push_back(steps); }
  std::vector<StepRecord> records;
  std::vector<plan::RankStats> stats; // of the last step
  std::vector<std::uint64_t> savedSteps;
  int exports = 0;
};

Status runJob(const SmallJob &job, Recorder &recorder) {
  return runLocal(job.plan, plan::planId(job.plan),
                  {.base = job.folder.string(), .edge = Arena::Edge::Guarded}, recorder);
}

TEST(LocalRun, EveryStepIsReported) {
  const SmallJob job({.steps = 5});
  Recorder recorder;
  const Status status = runJob(job, recorder);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(recorder.records.size(), 5u);
  for (std::uint64_t step = 0; step < 5; ++step) {
    EXPECT_EQ(recorder.records[step].step, step);
    EXPECT_EQ(recorder.records[step].tokens, 16u); // 2 microbatches of 8
    EXPECT_EQ(recorder.records[step].loss, 0);     // null stages
    EXPECT_EQ(recorder.records[step].learningRate, 1e-3);
  }
  ASSERT_EQ(recorder.stats.size(), 2u);
  EXPECT_EQ(recorder.stats[0].actions, 22u); // of its loop body, from one `measure` to the next
  EXPECT_EQ(recorder.stats[1].actions, 21u);
  for (const plan::RankStats &rank : recorder.stats) {
    EXPECT_GT(rank.stepNanoseconds, rank.computeNanoseconds);
    EXPECT_GT(rank.computeNanoseconds, 0u);
  }
}

TEST(LocalRun, AFoldedRankMeetsAFlatOne) {
  const SmallJob job(foldedPlan({.steps = 5}));
  EXPECT_EQ(checkRun(job.plan, {.base = job.folder.string()}).message(), "");
  Recorder recorder;
  const Status status = runJob(job, recorder);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.records.size(), 5u);
  ASSERT_EQ(recorder.stats.size(), 2u);
  EXPECT_EQ(recorder.stats[0].actions, 22u); // as without a loop over microbatches
}

TEST(LocalRun, WhatACaseOrAGuardSkipsDoesNotRun) {
  SmallJob job({.steps = 4});
  job.plan.decisions = {{plan::Decision::Evaluate, {0, 1}}, {plan::Decision::Bad, {0, 1}}};
  job.plan.conditions = {{plan::Decision::Evaluate, plan::Comparison::Equal, 1},
                         {plan::Decision::Bad, plan::Comparison::Equal, 0}};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    plan::Program &program = job.plan.programs[rank];
    const std::uint32_t optimize =
        indexOf(job.plan, rank, rank == 0 ? "optimize, stage 0" : "optimize, stage 1");
    program.actions[optimize].guard = 2; // runs: the gradients of null stages are finite
    const std::uint32_t square =
        indexOf(job.plan, rank, rank == 0 ? "square_norm, stage 0" : "square_norm, stage 1");
    program.cases = {{square, square + 1, 1}}; // never runs: the plan has no evaluation
  }
  // Nor does this one, on the lane of a worker; those who wait for it go on.
  const std::uint32_t load = indexOf(job.plan, 0, "load");
  job.plan.programs[0].actions[load].guard = 1;
  Recorder recorder;
  const Status status = runJob(job, recorder);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.records.size(), 4u);
  EXPECT_EQ(recorder.stats[0].actions, 20u); // two less than all
  EXPECT_EQ(recorder.records[3].skipped, 0u);
}

TEST(LocalRun, ADecisionThatThePlanIsNotMadeForIsRefused) {
  SmallJob job({.steps = 4});
  job.plan.decisions = {{plan::Decision::Evaluate, {1}}};
  job.plan.conditions = {{plan::Decision::Evaluate, plan::Comparison::Equal, 1}};
  job.plan.programs[1].actions[indexOf(job.plan, 1, "optimize, stage 1")].guard = 1;
  Recorder recorder;
  const Status status = runJob(job, recorder);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_THAT(status.message(),
              HasSubstr("rank 1 at a decision: `evaluate` was decided to be 0, for which the plan "
                        "is not made"));
}

TEST(LocalRun, AMissingTextNamesTheOptionThatHelps) {
  SmallJob job;
  job.plan.data.text = "nowhere.txt";
  Recorder recorder;
  const Status status = runJob(job, recorder);
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_THAT(status.message(), HasSubstr("nowhere.txt"));
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "\nhelp: paths of the job are relative to its folder; name that folder with `--base`"));
}

TEST(LocalRun, ATextThatChangedIsRefused) {
  SmallJob job;
  std::ofstream(job.folder / job.plan.data.text, std::ios::app) << "more";
  Recorder recorder;
  EXPECT_EQ(runJob(job, recorder).code(), StatusCode::Unacceptable);
}

TEST(LocalRun, APlanThatDiffersOnOneRankIsRefusedByName) {
  SmallJob job;
  // Rank 1 would take the first activation a tick later than rank 0 sends it: its own order stays
  // right.
  plan::Action &receive =
      job.plan.programs[1]
          .actions[indexOf(job.plan, 1, "receive forward from rank 0, stage 1, microbatch 0")];
  plan::Action &labels =
      job.plan.programs[1].actions[indexOf(job.plan, 1, "receive data from rank 0, labels")];
  ASSERT_EQ(receive.time - labels.time, 2);
  receive.time -= 1;
  const auto expect = [](const Status &status) {
    EXPECT_EQ(status.code(), StatusCode::Unacceptable);
    EXPECT_THAT(status.message(),
                HasSubstr("disagree about the times, bytes or types on rank 0 → rank 1, forward"));
  };
  Recorder recorder;
  expect(runJob(job, recorder));
  expect(checkRun(job.plan, {.base = job.folder.string()}));
}

TEST(LocalRun, AProgramOutOfOrderIsRefused) {
  SmallJob job;
  const std::uint32_t action = indexOf(job.plan, 1, "loss, stage 1, microbatch 0");
  job.plan.programs[1].actions[action].time = 7; // as the forward before it
  Recorder recorder;
  const Status status = runJob(job, recorder);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_EQ(status.message(), "action 6 of rank 1, loss, stage 1, microbatch 0, breaks the plan's "
                              "certificate: it stands at 8 of "
                              "the clock, what is dispatched before it at 8");
}

TEST(LocalRun, ABodyLongerThanItsPeriodIsRefused) {
  SmallJob job;
  for (plan::Program &program : job.plan.programs)
    program.loops[0].period = 20;
  EXPECT_THAT(checkRun(job.plan, {.base = job.folder.string()}).message(),
              HasSubstr("the times of loop 0 span 25, its period is 20"));
}

TEST(LocalRun, ARunThatNeedsMoreMemoryThanThereIsIsRefused) {
  SmallJob job;
  job.plan.layouts[0].arena[0] = std::uint64_t(1) << 50;
  Recorder recorder;
  const Status status = runJob(job, recorder);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_THAT(status.message(), HasSubstr("the plan needs 1073741824 MiB on 2 ranks"));
}

TEST(LocalRun, AnExportThatCannotStandIsRefusedBeforeTheFirstStep) {
  SmallJob job(SmallPlanOptions{.steps = 2});
  job.plan.run.exportTo = "."; // among other things, where the plan lies
  Recorder recorder;
  for (const Status &status :
       {runJob(job, recorder), checkRun(job.plan, {.base = job.folder.string()})}) {
    EXPECT_EQ(status.code(), StatusCode::File);
    EXPECT_THAT(status.message(), HasSubstr("cannot export: `"));
  }
  job.plan.run.exportTo = "out";
  std::ofstream(job.folder / "out.partial") << "mine";
  EXPECT_THAT(runJob(job, recorder).message(), HasSubstr("was not left by an unfinished run"));
  EXPECT_TRUE(std::filesystem::exists(job.folder / "out.partial"));
  EXPECT_TRUE(recorder.records.empty());
}

TEST(LocalRun, OfTwoRunsWithOneExportTheSecondIsRefused) {
  SmallJob job(SmallPlanOptions{.steps = 2});
  job.plan.run.exportTo = "out";
  const StatusOr<ExportClaim> first = claimExport(job.plan, job.folder.string());
  ASSERT_TRUE(first.ok()) << first.status().message();
  Recorder recorder;
  EXPECT_THAT(runJob(job, recorder).message(), HasSubstr("is being written by another run"));
  EXPECT_TRUE(std::filesystem::exists(job.folder / "out.partial"));
  EXPECT_TRUE(recorder.records.empty());
}

TEST(LocalRun, AFailedRunLeavesNothingOfItsExport) {
  SmallJob job;
  job.plan.data.text = "nowhere.txt";
  job.plan.run.exportTo = "out/model";
  Recorder recorder;
  EXPECT_EQ(runJob(job, recorder).code(), StatusCode::File);
  EXPECT_FALSE(std::filesystem::exists(job.folder / "out"));
}

TEST(CheckRun, AcceptsWhatRuns) {
  const SmallJob job;
  const Status status = checkRun(job.plan, {.base = job.folder.string()});
  EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace
} // namespace vime
