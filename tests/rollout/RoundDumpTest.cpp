#include "runtime/Rollout/RoundDump.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rollout/MadeSamples.h"

namespace vime {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

class RoundDump : public testing::Test {
protected:
  RoundDump() {
    made.settings.rollout.dropsEqualRewards = true;
    FunctionReward reward([](const RewardRequest &request) {
      return request.draw % 3 == 0 ? 0.1 : request.sample / 3.0;
    });
    auto result = scoreRound(made.source(6), reward, samples.data(), round.data());
    EXPECT_TRUE(result.ok()) << result.status().message();
    scored = std::move(*result);
  }
  ~RoundDump() override { std::filesystem::remove_all(folder); }

  void write() {
    const Status status = writeDump(folder, made.source(6), scored, round.data());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(dumpPath(folder, 6)).rdbuf();
    return text.str();
  }
  Status read(Bytes &buffer) const {
    return readDump(dumpPath(folder, 6), made.settings, 256, 6, buffer.data());
  }
  /// Of the dump with the first `from` replaced.
  std::string complaint(const std::string &from, const std::string &to) {
    std::string changed = text();
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, changed.npos) << from;
    changed.replace(at, from.size(), to);
    std::ofstream(folder + "/changed") << changed;
    Bytes buffer = made.round();
    return readDump(folder + "/changed", made.settings, 256, 6, buffer.data()).message();
  }

  MadeSamples made;
  const std::string folder = testing::TempDir() + "dumps-" + std::to_string(getpid()) + "/a/b";
  Bytes samples = made.generate(made.drawn(6), 7), round = made.round();
  ScoredRound scored;
};

TEST_F(RoundDump, IsReadBackToTheBit) {
  write();
  Bytes buffer = made.round();
  const Status status = read(buffer);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(buffer, round);
  const std::string lines = text();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 15);
  EXPECT_THAT(lines, HasSubstr("\"prompt_text\":\""));
  EXPECT_THAT(lines, HasSubstr("\"trained\":false"));
}

TEST_F(RoundDump, AdvantagesAreThoseOfThePlanThatReads) {
  write();
  made.settings.algorithm.advantage = plan::AdvantageRule::Rloo;
  Bytes buffer = made.round();
  ASSERT_TRUE(read(buffer).ok());
  EXPECT_NE(buffer, round);
}

TEST_F(RoundDump, WhatIsWrongIsNamed) {
  write();
  EXPECT_THAT(complaint("{", "["), HasSubstr("changed`, line 1: no JSON object"));
  EXPECT_THAT(complaint("\"round\":6", "\"round\":5"), HasSubstr("`round` is 5, the run needs 6"));
  EXPECT_THAT(complaint("\"samples\":15", "\"samples\":16"),
              HasSubstr("15 samples, and the first line says 16"));
  EXPECT_THAT(complaint("\"trained\":true", "\"trained\":false"),
              HasSubstr("sample 1 of draw 30 stands where another one should"));
  EXPECT_THAT(complaint("\"trained\":true", "\"trained\":1"),
              HasSubstr("line 2: `trained` is neither"));
  EXPECT_THAT(complaint("\"log_probabilities\":[", "\"log_probabilities\":[0.5,"),
              HasSubstr("line 2: `log_probabilities` is no list of"));
  EXPECT_THAT(complaint("\"tokens\":[", "\"tokens\":[256,"), HasSubstr("line 2: `tokens` has no"));
  EXPECT_THAT(complaint("\"reward\":", "\"reward\":1e999,\"x\":"), HasSubstr("line 2"));
  EXPECT_THAT(complaint("\"finish\":\"", "\"finish\":\"x"), HasSubstr("`finish` is none of"));
  Bytes buffer = made.round();
  EXPECT_EQ(readDump(folder + "/none", made.settings, 256, 6, buffer.data()).code(),
            StatusCode::File);
}

TEST_F(RoundDump, FoldersThatCannotBeMade) {
  const std::string file = fileOf("no-folder", "");
  EXPECT_EQ(writeDump(file + "/dump", made.source(6), scored, round.data()).code(),
            StatusCode::File);
}

TEST_F(RoundDump, AFullDiskLeavesNothing) {
  std::filesystem::create_directories(folder);
  // What is no regular file is written as it is: a disk that is always full.
  std::filesystem::create_symlink("/dev/full", dumpPath(folder, 6));
  const Status status = writeDump(folder, made.source(6), scored, round.data());
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
    ++entries;
  EXPECT_EQ(entries, 1u);
}

} // namespace
} // namespace vime
