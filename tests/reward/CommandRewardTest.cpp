// CommandReward: workers that are good, and those that are not (RewardWorker.cpp).
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reward/AskedRewards.h"

namespace vime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class CommandReward : public testing::Test {
protected:
  CommandReward() { std::remove(first.c_str()); }
  ~CommandReward() override { std::remove(first.c_str()); }

  plan::RewardSettings settings(const std::string &arguments) const {
    return {.kind = plan::RewardKind::Command,
            .what = std::string("'") + VIME_REWARD_WORKER + "' " + arguments,
            .timeoutSeconds = 20,
            .workers = 3};
  }
  /// The first of three workers is of that kind.
  plan::RewardSettings oneOf(const std::string &mode) const {
    return settings("first '" + first + "' " + mode);
  }
  StatusOr<std::vector<double>> score(const plan::RewardSettings &settings,
                                      const AskedRewards &asked = AskedRewards::ofLengths(40)) {
    auto reward = makeReward(settings, "");
    if (!reward.ok())
      return reward.status();
    return (*reward)->score(asked.requests);
  }
  void expectLengths(const plan::RewardSettings &settings) {
    const auto scores = score(settings);
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    EXPECT_EQ(*scores, AskedRewards::ofLengths(40).lengths());
  }
  std::string complaint(const plan::RewardSettings &settings) {
    const auto scores = score(settings);
    return scores.ok() ? "none" : scores.status().message();
  }

  const std::string first = testing::TempDir() + "first-" + std::to_string(getpid());
};

TEST_F(CommandReward, ScoresStandWhereTheirRequestsStand) { expectLengths(settings("good")); }

TEST_F(CommandReward, CallAfterCall) {
  auto reward = makeReward(settings("good"), "");
  ASSERT_TRUE(reward.ok()) << reward.status().message();
  for (int call = 0; call < 3; ++call) {
    const AskedRewards asked = AskedRewards::ofLengths(5 + 3 * call);
    EXPECT_EQ(*(*reward)->score(asked.requests), asked.lengths());
  }
  EXPECT_TRUE((*reward)->score({})->empty());
}

TEST_F(CommandReward, AnswersThatAreLateOrTwiceArePassedOver) {
  expectLengths(oneOf("twice"));
  std::remove(first.c_str());
  expectLengths(settings("late"));
}

TEST_F(CommandReward, WorkOfALostWorkerIsGivenToAnother) {
  for (const char *mode : {"die", "foreign", "junk", "infinite", "flood", "close"}) {
    std::remove(first.c_str());
    SCOPED_TRACE(mode);
    expectLengths(oneOf(mode));
  }
}

TEST_F(CommandReward, AWorkerThatHangsIsLostInTime) {
  for (const char *mode : {"hang", "deaf"}) {
    std::remove(first.c_str());
    SCOPED_TRACE(mode);
    plan::RewardSettings impatient = oneOf(mode);
    impatient.timeoutSeconds = 1;
    expectLengths(impatient);
  }
}

TEST_F(CommandReward, RequestsLargerThanAPipe) {
  const AskedRewards asked({std::string(300000, 'x'), "y", std::string(200000, '\xFF')});
  const auto scores = score(settings("good"), asked);
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(*scores, asked.lengths());
}

TEST_F(CommandReward, FewerThanNeededEndTheRun) {
  plan::RewardSettings all = settings("die");
  all.minWorkers = 3;
  EXPECT_THAT(
      complaint(all),
      AllOf(HasSubstr("2 of 3 reward workers are left, 3 are needed"), HasSubstr("of draw 1"),
            HasSubstr("closed its output and ended with status 3; it last said `out of luck`")));
}

TEST_F(CommandReward, EveryLossIsTold) {
  plan::RewardSettings hasty = settings("hang");
  hasty.timeoutSeconds = 0.2;
  hasty.retries = 5;
  const auto scores = score(hasty);
  EXPECT_EQ(scores.status().code(), StatusCode::Hang);
  EXPECT_THAT(scores.status().message(),
              AllOf(HasSubstr("0 of 3 reward workers are left, 1 are needed"),
                    HasSubstr("reward worker 0"), HasSubstr("reward worker 1"),
                    HasSubstr("reward worker 2"), HasSubstr("gave no answer within 0.2 s")));
}

TEST_F(CommandReward, ARequestThatNobodySurvivesEndsTheRun) {
  plan::RewardSettings settings = this->settings("poison");
  settings.retries = 1;
  const auto scores = score(settings, AskedRewards({"a", "poison", "b"}));
  EXPECT_EQ(scores.status().code(), StatusCode::RankFailed);
  EXPECT_THAT(scores.status().message(),
              HasSubstr("no reward for sample 1 of draw 11 after 2 attempts"));
}

TEST_F(CommandReward, WhatCannotBeStarted) {
  plan::RewardSettings settings = this->settings("good");
  settings.what = "no-such-program-anywhere";
  auto reward = makeReward(settings, "");
  EXPECT_EQ(reward.status().code(), StatusCode::File);
  EXPECT_EQ(reward.status().message(),
            "cannot run `no-such-program-anywhere`: No such file or directory");
  settings.what = "true | false";
  EXPECT_EQ(makeReward(settings, "").status().code(), StatusCode::InvalidInput);
  settings.what = "cat";
  EXPECT_THAT(makeReward(settings, "/no/such/folder").status().message(),
              HasSubstr("cannot run `cat` in `/no/such/folder`"));
  settings.minWorkers = 4;
  EXPECT_THAT(makeReward(settings, "").status().message(),
              HasSubstr("3 reward workers, of which 4 are needed"));
}

TEST_F(CommandReward, RunsInTheFolderOfTheJob) {
  const std::string folder = testing::TempDir() + "job-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(VIME_REWARD_WORKER, folder + "/score");
  plan::RewardSettings settings = this->settings("");
  settings.what = "./score good";
  auto reward = makeReward(settings, folder);
  ASSERT_TRUE(reward.ok()) << reward.status().message();
  EXPECT_TRUE((*reward)->score(AskedRewards::ofLengths(4).requests).ok());
  std::filesystem::remove_all(folder);
}

TEST_F(CommandReward, CancelledFromAnotherThread) {
  auto reward = makeReward(settings("hang"), "");
  ASSERT_TRUE(reward.ok()) << reward.status().message();
  const auto start = Clock::now();
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (*reward)->cancel();
  });
  const AskedRewards asked = AskedRewards::ofLengths(9);
  EXPECT_EQ((*reward)->score(asked.requests).status().code(), StatusCode::Interrupted);
  canceller.join();
  EXPECT_EQ((*reward)->score(asked.requests).status().code(), StatusCode::Interrupted);
  reward->reset();
  EXPECT_LT(secondsSince(start), 10); // long before the time limit of an answer
}

/// Processes whose parent this process is, or whose command line has the name of the worker.
std::vector<int> workersAlive() {
  std::vector<int> found;
  for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos)
      continue;
    std::ostringstream line;
    line << std::ifstream(entry.path() / "cmdline").rdbuf();
    if (line.str().find("reward_worker") != std::string::npos &&
        line.str().find(std::to_string(getpid())) != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

/// Killed ones are gone as soon as somebody has waited for them: a grandchild's parent is `init`.
void expectNobodyAlive() {
  const auto start = Clock::now();
  while (!workersAlive().empty() && secondsSince(start) < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(workersAlive().empty());
}

TEST_F(CommandReward, DestructionLeavesNoProcess) {
  plan::RewardSettings impatient = oneOf("family"); // has a child, which ignores its end
  impatient.timeoutSeconds = 0.5;
  {
    auto reward = makeReward(impatient, "");
    ASSERT_TRUE(reward.ok());
    EXPECT_EQ(workersAlive().size(), 3u);
    EXPECT_TRUE((*reward)->score(AskedRewards::ofLengths(9).requests).ok());
  }
  expectNobodyAlive();
}

TEST_F(CommandReward, TheEndOfThisProcessLeavesNoProcess) {
  const std::string mark = std::to_string(getpid());
  const pid_t other = fork();
  if (other == 0) {
    auto reward = makeReward(settings("deaf " + mark), "");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFSIGNALED(status));
  expectNobodyAlive();
}

} // namespace
} // namespace vime
