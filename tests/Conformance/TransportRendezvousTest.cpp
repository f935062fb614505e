// What makes `rendezvous` the strictest transport, and what merged queues do. A post never waits
// here, so that one thread can play all ranks.
#include "runtime/Transport/RendezvousTransport.h"

#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/Conformance/TransportRanks.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using Kind = QueueMerging::Kind;

/// All ranks in the hand of one thread.
struct Hand {
  Hand(const std::vector<RankEnds> &ends, Kind kind) {
    for (std::size_t rank = 0; rank < ends.size(); ++rank)
      pointers.push_back(sleepers.emplace_back(std::make_unique<Sleeper>(/*spins=*/false)).get());
    StatusOr<LocalTransports> connected = connectRendezvous(ends, pointers, 20s, {.kind = kind});
    EXPECT_TRUE(connected.ok()) << connected.status().message();
    transports = std::move(*connected);
  }
  void post(std::uint32_t rank, std::uint32_t end) {
    const Status status = transports[rank]->post(end, {&value, &value, sizeof value});
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::uint64_t finished(std::uint32_t rank, std::uint32_t end) const {
    return transports[rank]->finished(end).load();
  }
  int value = 0;
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  std::vector<Sleeper *> pointers;
  LocalTransports transports;
};

/// Two channels from rank 0 to rank 1: end 0 and end 1 of both.
std::vector<RankEnds> twoChannels() {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1, plan::Flow::Forward);
  addChannel(ends, 0, 1, plan::Flow::Data);
  return ends;
}

TEST(Rendezvous, ASendCompletesWhenReceivedAndNotBefore) {
  Hand hand(twoChannels(), Kind::None);
  for (std::uint64_t index = 0; index < 3; ++index) {
    hand.post(0, 0);
    EXPECT_EQ(hand.finished(0, 0), index);
    hand.post(1, 0);
    EXPECT_EQ(hand.finished(0, 0), index + 1);
    EXPECT_EQ(hand.finished(1, 0), index + 1);
  }
}

TEST(Rendezvous, EndsWithQueuesOfTheirOwnDoNotWaitForEachOther) {
  Hand hand(twoChannels(), Kind::None);
  hand.post(0, 0);
  hand.post(0, 1);
  hand.post(1, 1);
  EXPECT_EQ(hand.finished(0, 0), 0u);
  EXPECT_EQ(hand.finished(0, 1), 1u);
}

TEST(Rendezvous, InAMergedQueueATransferWaitsForTheOneBeforeIt) {
  Hand hand(twoChannels(), Kind::All);
  hand.post(0, 0);
  hand.post(0, 1);
  hand.post(1, 0);
  EXPECT_EQ(hand.finished(1, 0), 1u);
  hand.post(0, 0);
  hand.post(1, 1);
  hand.post(1, 1); // of rank 0's next turn, behind its end 0
  hand.post(0, 1);
  EXPECT_EQ(hand.finished(1, 1), 1u); // rank 0 has posted both of end 1, but one of end 0 before
  EXPECT_EQ(hand.finished(0, 1), 1u);
}

TEST(Rendezvous, WhatStoodBehindHappensAtOnce) {
  // A chain of ranks; every rank posts its send to the right before its receive from the left, the
  // last one comes last.
  constexpr std::uint32_t kRanks = 5;
  std::vector<RankEnds> ends = noEnds(kRanks);
  for (std::uint32_t rank = 0; rank + 1 < kRanks; ++rank)
    addChannel(ends, rank, rank + 1); // ends: receive 0, send 1; of rank 0 send 0
  Hand hand(ends, Kind::All);
  hand.post(0, 0);
  for (std::uint32_t rank = 1; rank + 1 < kRanks; ++rank) {
    hand.post(rank, 1);
    hand.post(rank, 0);
  }
  EXPECT_EQ(hand.finished(0, 0), 0u);
  hand.post(kRanks - 1, 0);
  EXPECT_EQ(hand.finished(0, 0), 1u);
}

TEST(Rendezvous, CrossedOrdersInMergedQueuesAreToldAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<RankEnds> ends = twoChannels();
  Hand hand(ends, Kind::All);
  std::vector<Status> statuses(2);
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      hand.post(rank, rank);
      hand.post(rank, 1 - rank);
      statuses[rank] = hand.transports[rank]->await(0, 1);
    });
  for (std::thread &rank : ranks)
    rank.join();
  for (const Status &status : statuses) {
    EXPECT_EQ(status.code(), StatusCode::Hang);
    EXPECT_EQ(status.message(),
              "no transfer can happen any more: rank 0 waits for transfer 0 of rank 0 → rank 1, "
              "forward, rank 1 waits for transfer 0 of rank 0 → rank 1, forward behind rank 0 → "
              "rank 1, data");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST(Rendezvous, SizesThatDifferAreRefusedWithBoth) {
  Hand hand(twoChannels(), Kind::None);
  hand.post(0, 0);
  const Status status = hand.transports[1]->post(0, {&hand.value, &hand.value, 2});
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_EQ(status.message(), "transfer 0 of rank 0 → rank 1, forward has 4 bytes at rank 0 and 2 "
                              "at rank 1");
  EXPECT_EQ(hand.transports[0]->await(0, 1).message(), status.message());
}

TEST(Rendezvous, SeedsGiveEveryKindOfMerging) {
  RankEnds ends = noEnds(1)[0];
  ends.ends.resize(3);
  std::set<std::set<std::uint32_t>> used;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const QueueMerging merging{.kind = Kind::Random, .seed = seed};
    const std::vector<std::uint32_t> queues = queuesOf(ends, merging);
    EXPECT_EQ(queues, queuesOf(ends, merging));
    used.emplace(queues.begin(), queues.end());
  }
  EXPECT_TRUE(used.contains({0}));
  EXPECT_TRUE(used.contains({0, 1}));
  EXPECT_TRUE(used.contains({0, 1, 2}));
}

} // namespace
} // namespace vime
