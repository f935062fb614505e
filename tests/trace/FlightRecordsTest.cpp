// The records of a run as files: made before it, gone or kept after it.
#include "runtime/Trace/FlightRecords.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/ChainPlan.h"

namespace vime::flight {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class FlightRecordsTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "vime-test-XXXXXX";
    folder = mkdtemp(pattern.data());
    setenv("TMPDIR", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder);
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      count += entry.is_regular_file();
    return count;
  }
  Status conclude(const std::string &stated, bool begins, const Status &status) {
    StatusOr<FlightRecords> records = FlightRecords::open(plan, {.folder = stated});
    EXPECT_TRUE(records.ok()) << records.status().message();
    EXPECT_EQ(files(), 2u);
    if (begins)
      records->of(1).begin(0, 0, 0);
    return records->conclude(status, plan);
  }
  fs::path folder;
  const plan::Plan plan = chainPlan({.ranks = 2});
};

TEST_F(FlightRecordsTest, TemporaryOnesStayAfterAFailureOnly) {
  EXPECT_TRUE(conclude("", true, Status()).ok());
  EXPECT_EQ(conclude("", true, Status(StatusCode::Interrupted, "interrupted")).message(),
            "interrupted");
  EXPECT_EQ(conclude("", false, Status(StatusCode::File, "no text")).message(), "no text");
  EXPECT_TRUE(fs::is_empty(folder));
  const Status failed = conclude("", true, Status(StatusCode::RankFailed, "rank 1 was lost"));
  EXPECT_THAT(failed.message(), testing::StartsWith("rank 1 was lost\n"));
  EXPECT_THAT(failed.message(), HasSubstr("\nhelp: `vimec explain " + folder.string()));
  EXPECT_EQ(files(), 2u);
}

TEST_F(FlightRecordsTest, StatedOnesStayAndReplaceThoseOfAnEarlierRun) {
  const std::string stated = (folder / "records").string();
  EXPECT_TRUE(conclude(stated, true, Status()).ok());
  EXPECT_EQ(files(), 2u);
  fs::copy(fs::path(stated) / fileNameOf(0), fs::path(stated) / fileNameOf(7));
  EXPECT_TRUE(conclude(stated, true, Status()).ok());
  EXPECT_EQ(files(), 2u);
}

TEST_F(FlightRecordsTest, AStatedFolderThatCannotBeIsAnErrorATemporaryOneIsSaidLater) {
  std::ofstream(folder / "file") << "x";
  const std::string stated = (folder / "file" / "records").string();
  EXPECT_EQ(FlightRecords::open(plan, {.folder = stated}).status().code(), StatusCode::File);
  setenv("TMPDIR", stated.c_str(), 1);
  StatusOr<FlightRecords> records = FlightRecords::open(plan, {});
  ASSERT_TRUE(records.ok()) << records.status().message();
  records->of(0).begin(0, 0, 0);
  EXPECT_THAT(records->conclude(Status(StatusCode::RankFailed, "lost"), plan).message(),
              HasSubstr("\nnote: no flight record was kept: cannot make a folder in `"));
}

} // namespace
} // namespace vime::flight
