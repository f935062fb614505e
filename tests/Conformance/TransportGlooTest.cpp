// What only processes can get wrong: ranks that run different plans, and ranks that never come.
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Transport/GlooPlugin.h"
#include "tests/Conformance/TransportRanks.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class GlooStart : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-test-XXXXXX";
    store = mkdtemp(pattern.data());
    addChannel(ends, 0, 1);
  }
  void TearDown() override { std::filesystem::remove_all(store); }

  Status start(std::uint32_t rank, const std::string &planId,
               std::chrono::milliseconds limit) const {
    const StatusOr<std::unique_ptr<Transport>> transport =
        connectGloo(ends[rank], {.store = store,
                                 .planId = planId,
                                 .peers = {1 - rank},
                                 .connectLimit = limit,
                                 .limit = limit});
    return transport.ok() ? Status() : transport.status();
  }

  std::string store;
  std::vector<RankEnds> ends = noEnds(2);
};

TEST_F(GlooStart, AnotherPlanIsRefusedByName) {
  Status other;
  std::thread thread([&] { other = start(1, "plan B", 20s); });
  const Status own = start(0, "plan A", 20s);
  thread.join();
  EXPECT_EQ(own.code(), StatusCode::Unacceptable);
  EXPECT_EQ(own.message(), "rank 1 runs another plan than rank 0");
  EXPECT_EQ(other.message(), "rank 0 runs another plan than rank 1");
}

TEST_F(GlooStart, ARankThatNeverComesIsNamed) {
  const Status status = start(0, "plan A", 100ms);
  EXPECT_EQ(status.code(), StatusCode::RankFailed);
  EXPECT_THAT(status.message(), HasSubstr("rank 1 did not connect to rank 0: "));
}

} // namespace
} // namespace vime
