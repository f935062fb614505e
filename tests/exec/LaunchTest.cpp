// What launchers set, and what becomes of it.
#include "runtime/Exec/Launch.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

using testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

StatusOr<std::optional<Launch>> launched(const Environment &environment) {
  return launchFrom([&](const char *name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

Launch launch(const Environment &environment) {
  StatusOr<std::optional<Launch>> result = launched(environment);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result.ok() && result->has_value());
  return result.ok() && *result ? **result : Launch();
}

std::string refusal(const Environment &environment) {
  const StatusOr<std::optional<Launch>> result = launched(environment);
  EXPECT_EQ(result.status().code(), StatusCode::Usage);
  return result.status().message().substr(0, result.status().message().find('\n'));
}

const Environment kTorchrun = {{"RANK", "3"},
                               {"WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "node1"},
                               {"MASTER_PORT", "29400"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                               {"TORCHELASTIC_RUN_ID", "job7"},
                               {"TORCHELASTIC_RESTART_COUNT", "2"}};

TEST(Launch, NobodyLaunchesWithoutARank) {
  EXPECT_FALSE(launched({})->has_value());
  EXPECT_FALSE(launched({{"MASTER_ADDR", "node1"}, {"WORLD_SIZE", "4"}})->has_value());
}

TEST(Launch, OfTorchrunTheAgentHostsTheStore) {
  Environment environment = kTorchrun;
  const Launch third = launch(environment);
  EXPECT_EQ(third.by, "torchrun");
  EXPECT_EQ(third.rank, 3u);
  EXPECT_EQ(third.ranks, 4u);
  EXPECT_EQ(third.store.host, "node1");
  EXPECT_EQ(third.store.port, 29400);
  EXPECT_EQ(third.prefix, "vime/job7/2/");
  EXPECT_EQ(third.attempt, "2");
  EXPECT_TRUE(third.endsWithParent);
  environment["RANK"] = "0";
  EXPECT_FALSE(launch(environment).hostsStore);
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_TRUE(launch(environment).hostsStore);
}

TEST(Launch, WithoutAnAgentRankZeroHostsTheStore) {
  Environment environment = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "::1"}, {"MASTER_PORT", "1234"}};
  EXPECT_TRUE(launch(environment).hostsStore);
  EXPECT_FALSE(launch(environment).endsWithParent);
  environment["RANK"] = "1";
  EXPECT_FALSE(launch(environment).hostsStore);
}

TEST(Launch, OfSlurmTheFirstHostOfTheStep) {
  Environment environment = {{"SLURM_PROCID", "5"},
                             {"SLURM_STEP_NUM_TASKS", "8"},
                             {"SLURM_JOB_ID", "123456"},
                             {"SLURM_STEP_NODELIST", "gpu[07-09,12],login1"}};
  EXPECT_EQ(launch(environment).by, "srun");
  EXPECT_EQ(launch(environment).rank, 5u);
  EXPECT_EQ(launch(environment).ranks, 8u);
  EXPECT_EQ(launch(environment).store.host, "gpu07");
  EXPECT_EQ(launch(environment).store.port, 23456);
  for (const auto &[list, first] : Environment{
           {"a", "a"}, {"a,b", "a"}, {"a[3]", "a3"}, {"a[1-2]-ib,b", "a1-ib"}, {"a[", "a"}}) {
    environment["SLURM_STEP_NODELIST"] = list;
    EXPECT_EQ(launch(environment).store.host, first) << list;
  }
  environment["MASTER_ADDR"] = "10.0.0.7";
  environment["MASTER_PORT"] = "29500";
  EXPECT_EQ(launch(environment).store.host, "10.0.0.7");
  EXPECT_EQ(launch(environment).store.port, 29500);
}

TEST(Launch, ABatchScriptOfSlurmIsNoRank) {
  EXPECT_FALSE(
      launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}})->has_value());
}

TEST(Launch, OneTaskOfSlurmOrMpiIsNoLaunch) {
  EXPECT_FALSE(launched({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}})->has_value());
  EXPECT_FALSE(
      launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})->has_value());
}

TEST(Launch, OfMpiTheAddressMustBeGiven) {
  for (const std::string name : {"OMPI_COMM_WORLD_", "PMI_"}) {
    Environment environment = {{name + "RANK", "1"}, {name + "SIZE", "2"}};
    EXPECT_EQ(refusal(environment), "`MASTER_ADDR` is not set");
    environment["MASTER_ADDR"] = "node1";
    EXPECT_EQ(refusal(environment), "`MASTER_PORT` is not set");
    environment["MASTER_PORT"] = "29500";
    EXPECT_EQ(launch(environment).rank, 1u);
  }
}

TEST(Launch, WhatMakesNoSenseIsNamed) {
  const auto changed = [](const char *name, const char *value) {
    Environment environment = kTorchrun;
    value ? void(environment[name] = value) : void(environment.erase(name));
    return refusal(environment);
  };
  EXPECT_EQ(changed("WORLD_SIZE", nullptr), "`WORLD_SIZE` is not set");
  EXPECT_EQ(changed("MASTER_PORT", nullptr), "`MASTER_PORT` is not set");
  EXPECT_EQ(changed("MASTER_ADDR", ""), "`MASTER_ADDR` is not set");
  EXPECT_EQ(changed("RANK", "first"), "`RANK=first` is no number");
  EXPECT_EQ(changed("RANK", "-1"), "`RANK=-1` is no number");
  EXPECT_EQ(changed("MASTER_PORT", "70000"), "`MASTER_PORT=70000` is no number");
  EXPECT_EQ(changed("RANK", "4"), "`RANK=4` is not below `WORLD_SIZE=4`");
}

} // namespace
} // namespace vime
