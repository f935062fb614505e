// What only processes can get wrong: ranks that never come, and edges that no connect round has.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Transport/Ends.h"
#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/TcpStoreServer.h"
#include "tests/Conformance/TransportRanks.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GlooStart, ARankThatNeverComesIsNamed) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  const StatusOr<std::unique_ptr<TcpStoreServer>> server = TcpStoreServer::listen("127.0.0.1", 0);
  ASSERT_TRUE(server.ok()) << server.status().message();
  (*server)->serve();
  const Deadline deadline = std::chrono::steady_clock::now() + 200ms;
  StatusOr<TcpStore> store = TcpStore::connect({"127.0.0.1", (*server)->port()}, "", deadline);
  ASSERT_TRUE(store.ok()) << store.status().message();
  const StatusOr<std::unique_ptr<Transport>> transport = connectGloo(
      ends[0],
      {.store = *store, .address = "127.0.0.1", .peers = {1}, .deadline = deadline, .limit = 1s});
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), StatusCode::RankFailed);
  EXPECT_THAT(transport.status().message(), HasSubstr("rank 1 did not connect to rank 0: "));
}

class ConnectOrder : public testing::Test {
protected:
  ConnectOrder() {
    for (std::uint32_t other = 1; other < 4; ++other)
      addChannel(ends, 0, other);
  }
  std::vector<RankEnds> ends = noEnds(4);
  plan::Plan plan;
};

TEST_F(ConnectOrder, FollowsTheRoundsOfThePlan) {
  plan.connect = {{.pairs = {{0, 3}, {1, 2}}}, {.pairs = {{0, 2}}}, {.pairs = {{0, 1}}}};
  EXPECT_THAT(peersInConnectOrder(plan, ends[0]), ElementsAre(3, 2, 1));
  EXPECT_THAT(peersInConnectOrder(plan, ends[1]), ElementsAre(2, 0));
}

TEST_F(ConnectOrder, WhatTheRoundsLeaveOutComesBehindThem) {
  plan.connect = {{.pairs = {{0, 3}}}};
  EXPECT_THAT(peersInConnectOrder(plan, ends[0]), ElementsAre(3, 1, 2));
}

} // namespace
} // namespace vime
