// What every transport must do. One suite; a backend is a parameter.
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/RendezvousTransport.h"
#include "runtime/Transport/TcpStoreServer.h"
#include "tests/Conformance/TransportRanks.h"

namespace vime {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class TransportSuite : public testing::TestWithParam<Backend> {};

void expectOk(const Status &status) { EXPECT_TRUE(status.ok()) << status.message(); }

/// A pattern that differs for every (stream, index) and position.
std::vector<std::uint8_t> pattern(std::size_t bytes, std::uint32_t stream, std::uint32_t index) {
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t at = 0; at < bytes; ++at)
    data[at] = static_cast<std::uint8_t>(at * 7 + at / 251 + stream * 31 + index * 13);
  return data;
}

TEST_P(TransportSuite, MessagesArriveInOrder) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  runRanks(GetParam(), {ends}, [](Rank &rank) {
    for (std::uint64_t index = 0; index < 1000; ++index) {
      std::uint64_t value = rank.rank == 0 ? index * index : 0;
      expectOk(rank.transport->post(
          0, {.source = &value, .destination = &value, .bytes = sizeof value}));
      expectOk(rank.transport->await(0, index + 1));
      ASSERT_EQ(value, index * index);
    }
  });
}

/// What each backend says of ends that nobody has connected yet.
Status connectOnly(Backend backend, const std::vector<RankEnds> &ends) {
  Sleeper sleeper(/*spins=*/false);
  const std::vector<Sleeper *> sleepers(ends.size(), &sleeper);
  if (backend == Backend::Local)
    return connectLocal(ends, sleepers, 20s).status();
  if (backend == Backend::Rendezvous)
    return connectRendezvous(ends, sleepers, 20s, {}).status();
  const auto server = TcpStoreServer::listen("127.0.0.1", 0);
  (*server)->serve();
  const Deadline deadline = std::chrono::steady_clock::now() + 20s;
  StatusOr<TcpStore> store = TcpStore::connect({"127.0.0.1", (*server)->port()}, "", deadline);
  return connectGloo(ends[0], {*store, "127.0.0.1", {}, deadline, 20s}).status();
}

TEST_P(TransportSuite, MoreGroupsThanAPlanMayHaveAreRefused) {
  std::vector<RankEnds> ends = noEnds(1);
  for (std::uint32_t group = 0; group < plan::kMostOpenGroups; ++group)
    addGroup(ends, group, plan::Collective::Broadcast);
  runRanks(GetParam(), {ends}, [](Rank &) {});
  addGroup(ends, plan::kMostOpenGroups, plan::Collective::Broadcast);
  const Status status = connectOnly(GetParam(), ends);
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_EQ(status.message(), "rank 0 takes part in 17 groups, a transport opens 16 at most");
}

TEST_P(TransportSuite, AnySizeFromNothingToAMebibyte) {
  const std::vector<std::size_t> sizes = {0, 1, 63, 64, 4096, 65537, 1 << 20, 0, 3};
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    for (std::uint32_t index = 0; index < sizes.size(); ++index) {
      const std::vector<std::uint8_t> sent = pattern(sizes[index], 0, index);
      std::vector<std::uint8_t> got(sizes[index]);
      expectOk(rank.transport->post(0, {sent.data(), got.data(), sizes[index]}));
      expectOk(rank.transport->await(0, index + 1));
      if (rank.rank == 1) {
        ASSERT_EQ(got, sent);
      }
    }
  });
}

TEST_P(TransportSuite, EitherEndMayComeFirst) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1, plan::Flow::Forward);  // the sender is early
  addChannel(ends, 0, 1, plan::Flow::Backward); // the receiver is
  std::atomic<bool> sent{false}, received{false};
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    int early = rank.rank == 0 ? 41 : 0, late = rank.rank == 0 ? 42 : 0;
    Transport &transport = *rank.transport;
    if (rank.rank == 0) {
      expectOk(transport.post(0, {.source = &early, .bytes = sizeof early}));
      sent = true;
      while (!received)
        std::this_thread::yield();
      expectOk(transport.post(1, {.source = &late, .bytes = sizeof late}));
    } else {
      expectOk(transport.post(1, {.destination = &late, .bytes = sizeof late}));
      received = true;
      while (!sent)
        std::this_thread::yield();
      expectOk(transport.post(0, {.destination = &early, .bytes = sizeof early}));
    }
    expectOk(transport.await(0, 1));
    expectOk(transport.await(1, 1));
    EXPECT_EQ(early, 41);
    EXPECT_EQ(late, 42);
  });
}

TEST_P(TransportSuite, AReceiverSeesOnlyWhatWasSentOnItsChannel) {
  // Three flows each way between two ranks, posted in opposite orders.
  std::vector<RankEnds> ends = noEnds(2);
  const std::vector<plan::Flow> flows = {plan::Flow::Forward, plan::Flow::Data,
                                         plan::Flow::Metrics};
  for (const plan::Flow flow : flows) {
    addChannel(ends, 0, 1, flow);
    addChannel(ends, 1, 0, flow);
  }
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    constexpr std::uint32_t kEnds = 6;
    for (std::uint32_t index = 0; index < 50; ++index) {
      std::vector<std::uint32_t> values(kEnds);
      for (std::uint32_t turn = 0; turn < kEnds; ++turn) {
        const std::uint32_t end = rank.rank == 0 ? turn : kEnds - 1 - turn;
        const bool sends = end % 2 == rank.rank;
        values[end] = sends ? end * 1000 + index : 0;
        expectOk(rank.transport->post(end, {&values[end], &values[end], sizeof(std::uint32_t)}));
      }
      for (std::uint32_t end = 0; end < kEnds; ++end) {
        expectOk(rank.transport->await(end, index + 1));
        ASSERT_EQ(values[end], end * 1000 + index);
      }
    }
  });
}

TEST_P(TransportSuite, ManyOpenTransfersThenMore) {
  // Three windows posted before anything is awaited: the transport holds back, loses nothing, mixes
  // nothing.
  constexpr std::uint32_t kCount = 3 * kOpenTransfers;
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    std::vector<std::uint32_t> values(kCount);
    if (rank.rank == 0)
      std::iota(values.begin(), values.end(), 5);
    for (std::uint32_t &value : values)
      expectOk(rank.transport->post(0, {&value, &value, sizeof value}));
    expectOk(rank.transport->await(0, kCount));
    for (std::uint32_t index = 0; index < kCount; ++index)
      ASSERT_EQ(values[index], index + 5);
    EXPECT_EQ(rank.transport->finished(0).load(), kCount);
  });
}

TEST_P(TransportSuite, WhoWaitsForOneChannelTakesFromAll) {
  // Rank 1 expects as many messages on the first channel as may be open, and waits for the second
  // one. Rank 0 sends one more on the first before it sends on the second.
  constexpr std::uint32_t kCount = kOpenTransfers + 1;
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1, plan::Flow::Forward);
  addChannel(ends, 0, 1, plan::Flow::Data);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    std::vector<std::uint32_t> values(kCount + 1);
    if (rank.rank == 0)
      std::iota(values.begin(), values.end(), 9);
    const auto post = [&](std::uint32_t end, std::uint32_t &value) {
      expectOk(rank.transport->post(end, {&value, &value, sizeof value}));
    };
    for (std::uint32_t index = 0; index < kOpenTransfers; ++index)
      post(0, values[index]);
    if (rank.rank == 0)
      post(0, values[kOpenTransfers]);
    post(1, values[kCount]);
    expectOk(rank.transport->await(1, 1));
    if (rank.rank == 1)
      post(0, values[kOpenTransfers]);
    expectOk(rank.transport->await(0, kCount));
    for (std::uint32_t index = 0; index <= kCount; ++index)
      ASSERT_EQ(values[index], index + 9);
  });
}

TEST_P(TransportSuite, ARingOfRanksPassesATokenAround) {
  constexpr std::uint32_t kRanks = 5;
  std::vector<RankEnds> ends = noEnds(kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    addChannel(ends, rank, (rank + 1) % kRanks);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    // Ends stand in the order in which channels were added: rank 0 sends on 0 and receives on 1,
    // the others reversed.
    const std::uint32_t sends = rank.rank == 0 ? 0 : 1, receives = 1 - sends;
    std::uint64_t token = 0;
    for (std::uint64_t round = 1; round <= 20; ++round) {
      if (rank.rank != 0) {
        expectOk(rank.transport->post(receives, {.destination = &token, .bytes = sizeof token}));
        expectOk(rank.transport->await(receives, round));
      }
      ++token;
      expectOk(rank.transport->post(sends, {.source = &token, .bytes = sizeof token}));
      expectOk(rank.transport->await(sends, round));
      if (rank.rank == 0) {
        expectOk(rank.transport->post(receives, {.destination = &token, .bytes = sizeof token}));
        expectOk(rank.transport->await(receives, round));
        ASSERT_EQ(token, round * kRanks);
      }
    }
  });
}

TEST_P(TransportSuite, CollectivesGiveEveryMemberItsPart) {
  for (const std::uint32_t ranks : {1u, 2u, 4u})
    for (std::uint32_t root = 0; root < ranks; root += ranks - 1 ? ranks - 1 : 1) {
      std::vector<RankEnds> ends = noEnds(ranks);
      addGroup(ends, 0, plan::Collective::Broadcast, root);
      addGroup(ends, 1, plan::Collective::Gather, root);
      addGroup(ends, 2, plan::Collective::AllGather);
      addGroup(ends, 3, plan::Collective::BroadcastWeights, root);
      runRanks(GetParam(), {ends}, [&](Rank &rank) {
        const bool isRoot = rank.rank == root;
        std::vector<std::uint32_t> weights(30); // sent part by part, each to where it is read
        for (std::uint32_t call = 0; call < 30; ++call) {
          std::uint32_t shared = isRoot ? call + 7 : 0, own = rank.rank * 100 + call;
          std::vector<std::uint32_t> atRoot(ranks), everywhere(ranks), expected(ranks);
          for (std::uint32_t member = 0; member < ranks; ++member)
            expected[member] = member * 100 + call;
          expectOk(rank.transport->post(0, {&shared, &shared, sizeof shared}));
          expectOk(rank.transport->post(1, {&own, isRoot ? atRoot.data() : nullptr, sizeof own}));
          expectOk(rank.transport->post(2, {&own, everywhere.data(), sizeof own}));
          weights[call] = isRoot ? call + 9 : weights[call];
          expectOk(rank.transport->post(3, {&weights[call], &weights[call], sizeof weights[call]}));
          for (std::uint32_t end = 0; end < 4; ++end)
            expectOk(rank.transport->await(end, call + 1));
          ASSERT_EQ(shared, call + 7);
          ASSERT_EQ(weights[call], call + 9);
          ASSERT_EQ(everywhere, expected);
          if (isRoot) {
            ASSERT_EQ(atRoot, expected);
          }
        }
      });
    }
}

/// Rank 2 comes to the broadcast only after rank 1 has it.
TEST_P(TransportSuite, ABroadcastReachesWhoIsThereBeforeOthersCome) {
  if (GetParam() == Backend::Rendezvous)
    GTEST_SKIP() << "a strict rendezvous waits for all of them";
  std::vector<RankEnds> ends = noEnds(3);
  addGroup(ends, 0, plan::Collective::Broadcast, /*root=*/0);
  addChannel(ends, 1, 2);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    for (std::uint32_t call = 0; call < 30; ++call) {
      std::uint32_t shared = rank.rank == 0 ? call + 7 : 0, token = call;
      if (rank.rank == 2) {
        expectOk(rank.transport->post(1, {.destination = &token, .bytes = sizeof token}));
        expectOk(rank.transport->await(1, call + 1));
      }
      expectOk(rank.transport->post(0, {&shared, &shared, sizeof shared}));
      expectOk(rank.transport->await(0, call + 1));
      ASSERT_EQ(shared, call + 7);
      if (rank.rank == 1) {
        expectOk(rank.transport->post(1, {.source = &token, .bytes = sizeof token}));
        expectOk(rank.transport->await(1, call + 1));
      }
    }
  });
}

/// ((g0 + g1) + g2) + … of numbers whose sum depends on the order.
template <typename Number> Number summand(std::uint32_t member, std::size_t index) {
  return static_cast<Number>((member % 2 ? -1.0 : 1.0) * (1e7 / (1 + index % 97)) + 0.1 * member);
}
template <typename Number>
std::vector<Number> ascendingSum(std::uint32_t members, std::size_t count) {
  std::vector<Number> sum(count);
  for (std::size_t index = 0; index < count; ++index) {
    sum[index] = summand<Number>(0, index);
    for (std::uint32_t member = 1; member < members; ++member)
      sum[index] += summand<Number>(member, index);
  }
  return sum;
}

template <typename Number> void expectSums(Backend backend, DataType type) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u}) {
    std::vector<RankEnds> ends = noEnds(ranks);
    addGroup(ends, 0, plan::Collective::AllReduce);
    runRanks(backend, {ends}, [&](Rank &rank) {
      std::uint64_t calls = 0;
      for (const std::size_t stagingBytes : {kLeastStaging, std::size_t{4096}})
        for (const std::size_t count : {0, 1, 8, 515, 20000}) {
          if (count > 515 && stagingBytes == kLeastStaging)
            continue; // thousands of messages show nothing new
          std::vector<Number> own(count);
          for (std::size_t index = 0; index < count; ++index)
            own[index] = summand<Number>(rank.rank, index);
          alignas(64) std::byte staging[4096];
          expectOk(rank.transport->post(0, {.destination = own.data(),
                                            .bytes = count * sizeof(Number),
                                            .type = type,
                                            .staging = staging,
                                            .stagingBytes = stagingBytes}));
          expectOk(rank.transport->await(0, ++calls));
          ASSERT_EQ(own, ascendingSum<Number>(ranks, count)) << count << " by " << stagingBytes;
        }
    });
  }
}

TEST_P(TransportSuite, SumsAddTheMembersInAscendingOrder) {
  expectSums<float>(GetParam(), DataType::Float32);
  expectSums<double>(GetParam(), DataType::Float64);
}

/// Of a part for each member, who has its own afterwards; the other parts stay as they were.
template <typename Number> void expectPartialSums(Backend backend, DataType type) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u}) {
    std::vector<RankEnds> ends = noEnds(ranks);
    addGroup(ends, 0, plan::Collective::ReduceScatter);
    runRanks(backend, {ends}, [&](Rank &rank) {
      std::uint64_t calls = 0;
      for (const std::size_t stagingBytes : {kLeastStaging, std::size_t{4096}})
        for (const std::size_t part : {0, 1, 8, 103, 4001}) {
          if (part > 103 && stagingBytes == kLeastStaging)
            continue;
          std::vector<Number> own(part * ranks);
          for (std::size_t index = 0; index < own.size(); ++index)
            own[index] = summand<Number>(rank.rank, index);
          std::vector<Number> expected = own;
          const std::vector<Number> sum = ascendingSum<Number>(ranks, own.size());
          std::copy_n(sum.begin() + rank.rank * part, part, expected.begin() + rank.rank * part);
          alignas(64) std::byte staging[4096];
          expectOk(rank.transport->post(0, {.destination = own.data(),
                                            .bytes = own.size() * sizeof(Number),
                                            .type = type,
                                            .staging = staging,
                                            .stagingBytes = stagingBytes}));
          expectOk(rank.transport->await(0, ++calls));
          ASSERT_EQ(own, expected) << part << " by " << stagingBytes;
        }
    });
  }
}

TEST_P(TransportSuite, PartsOfSumsGoToTheirMembers) {
  expectPartialSums<float>(GetParam(), DataType::Float32);
  expectPartialSums<double>(GetParam(), DataType::Float64);
}

TEST_P(TransportSuite, SharesComeTogetherOnEveryMember) {
  for (const std::uint32_t ranks : {2u, 3u}) {
    std::vector<RankEnds> ends = noEnds(ranks);
    addGroup(ends, 0, plan::Collective::Unshard);
    addGroup(ends, 1, plan::Collective::ReduceScatter);
    runRanks(GetParam(), {ends}, [&](Rank &rank) {
      // Two calls are under way while a sum goes on.
      std::vector<std::uint32_t> share(1000, rank.rank), first(1000 * ranks), second(1000 * ranks);
      std::vector<double> parts(ranks, 1.0 + rank.rank);
      alignas(64) std::byte staging[kLeastStaging];
      expectOk(rank.transport->post(0, {share.data(), first.data(), share.size() * 4}));
      expectOk(rank.transport->post(0, {share.data(), second.data(), share.size() * 4}));
      expectOk(rank.transport->post(1, {.destination = parts.data(),
                                        .bytes = parts.size() * sizeof(double),
                                        .type = DataType::Float64,
                                        .staging = staging,
                                        .stagingBytes = sizeof staging}));
      expectOk(rank.transport->await(1, 1));
      expectOk(rank.transport->await(0, 2));
      for (std::uint32_t index = 0; index < first.size(); ++index)
        ASSERT_EQ(first[index], index / 1000);
      ASSERT_EQ(first, second);
      ASSERT_EQ(parts[rank.rank], ranks * (ranks + 1) / 2.0);
    });
  }
}

TEST_P(TransportSuite, ManySumsFollowOneAnother) {
  // As one rank has several stages: more sums than transfers may be open, none awaited by itself.
  std::vector<RankEnds> ends = noEnds(3);
  addGroup(ends, 0, plan::Collective::AllReduce);
  runRanks(GetParam(), {ends}, [](Rank &rank) {
    constexpr std::uint32_t kSums = 2 * kOpenTransfers;
    std::vector<double> values(kSums);
    alignas(64) std::byte staging[kLeastStaging];
    for (std::uint32_t index = 0; index < kSums; ++index) {
      values[index] = index + rank.rank;
      expectOk(rank.transport->post(0, {.destination = &values[index],
                                        .bytes = sizeof(double),
                                        .type = DataType::Float64,
                                        .staging = staging,
                                        .stagingBytes = sizeof staging}));
    }
    expectOk(rank.transport->await(0, kSums));
    for (std::uint32_t index = 0; index < kSums; ++index)
      ASSERT_EQ(values[index], 3 * index + 3);
  });
}

TEST_P(TransportSuite, ALateMemberOfASumIsNamed) {
  std::vector<RankEnds> ends = noEnds(2);
  addGroup(ends, 0, plan::Collective::AllReduce);
  std::atomic<bool> over{false};
  runRanks(GetParam(), {.ends = ends, .limit = 100ms}, [&](Rank &rank) {
    if (rank.rank == 0) {
      while (!over)
        std::this_thread::yield();
      return;
    }
    double value = 1;
    alignas(64) std::byte staging[kLeastStaging];
    expectOk(rank.transport->post(0, {.destination = &value,
                                      .bytes = sizeof value,
                                      .type = DataType::Float64,
                                      .staging = staging,
                                      .stagingBytes = sizeof staging}));
    const Status status = rank.transport->await(0, 1);
    over = true;
    EXPECT_EQ(status.code(), StatusCode::Hang);
    EXPECT_EQ(status.message(), "rank 0 did not come to transfer 0 of group 0 within 0.1 s");
  });
}

TEST_P(TransportSuite, AbortWakesWhoIsBlocked) {
  std::vector<RankEnds> ends = noEnds(3);
  addChannel(ends, 0, 1);
  addChannel(ends, 1, 2);
  runRanks(GetParam(), {ends}, [&](Rank &rank) {
    std::vector<std::byte> bytes(1 << 20); // nobody buffers as much
    if (rank.rank == 2) {                  // never takes part
      rank.abort();
      return;
    }
    const std::uint32_t end =
        rank.rank == 1 ? 1 : 0; // 1 sends to 2; 0 waits for 1, which is gone afterwards
    expectOk(rank.transport->post(end, {bytes.data(), bytes.data(), bytes.size()}));
    const auto start = std::chrono::steady_clock::now();
    const Status status = rank.transport->await(end, 1);
    const bool inProcess = GetParam() != Backend::Gloo;
    EXPECT_EQ(status.code(), inProcess ? StatusCode::Interrupted : StatusCode::RankFailed)
        << status.message();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    rank.abort();
  });
}

TEST_P(TransportSuite, ALatePeerIsNamed) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1, plan::Flow::Backward);
  std::atomic<bool> over{false};
  runRanks(GetParam(), {.ends = ends, .limit = 100ms}, [&](Rank &rank) {
    int value = 0;
    if (rank.rank == 0) {
      while (!over)
        std::this_thread::yield();
      return;
    }
    expectOk(rank.transport->post(0, {.destination = &value, .bytes = sizeof value}));
    const Status status = rank.transport->await(0, 1);
    over = true;
    EXPECT_EQ(status.code(), StatusCode::Hang);
    EXPECT_EQ(status.message(),
              "rank 0 did not come to transfer 0 of rank 0 → rank 1, backward within 0.1 s");
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, TransportSuite,
                         testing::Values(Backend::Local, Backend::Gloo, Backend::Rendezvous),
                         [](const auto &info) { return nameOf(info.param); });

// ---- what only threads can show
// ------------------------------------------------------------------------------------

/// How many of two ranks are refused, of which one sends and the other expects so many bytes.
int refusals(std::size_t sent, std::size_t expected) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  std::atomic<int> refused{0};
  runRanks(Backend::Local, {ends}, [&](Rank &rank) {
    std::vector<std::byte> room(std::max(sent, expected));
    Status status =
        rank.transport->post(0, {room.data(), room.data(), rank.rank == 0 ? sent : expected});
    if (status.ok())
      status = rank.transport->await(0, 1);
    if (!status.ok())
      rank.abort();
    refused += status.code() == StatusCode::Unacceptable;
  });
  return refused;
}

TEST(LocalTransport, SizesThatDifferAreRefused) {
  EXPECT_EQ(refusals(8, 8), 0);
  EXPECT_EQ(refusals(8, 4), 1); // the receiver: a short message is sent before anybody expects it
  EXPECT_EQ(refusals(4, 8), 1);
  EXPECT_EQ(refusals(4096, 4095), 1); // who comes second
  EXPECT_EQ(refusals(8, 4096), 1);
  EXPECT_EQ(refusals(4096, 8), 1);
}

TEST(LocalTransport, AnEndWithoutCounterpartIsRefused) {
  std::vector<RankEnds> ends = noEnds(2);
  addChannel(ends, 0, 1);
  ends[1].ends.clear();
  Sleeper first(false), second(false);
  std::vector<Sleeper *> sleepers = {&first, &second};
  const StatusOr<LocalTransports> transports = connectLocal(ends, sleepers, 1s);
  ASSERT_FALSE(transports.ok());
  EXPECT_EQ(transports.status().code(), StatusCode::Unacceptable);
  EXPECT_EQ(transports.status().message(), "rank 0 → rank 1, forward of rank 0 has no counterpart");
}

} // namespace
} // namespace vime
