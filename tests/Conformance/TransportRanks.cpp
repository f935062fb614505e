#include "tests/Conformance/TransportRanks.h"

#include <barrier>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/Transport/Cores.h"
#include "runtime/Transport/Ends.h"
#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/RendezvousTransport.h"
#include "runtime/Transport/TcpStoreServer.h"

namespace vime {
namespace {

void runThreads(std::size_t count, const std::function<void(std::uint32_t)> &body) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

void runThreaded(Backend backend, const Setting &setting, const std::function<void(Rank &)> &body) {
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  std::vector<Sleeper *> pointers;
  for (std::size_t rank = 0; rank < setting.ends.size(); ++rank) {
    sleepers.push_back(
        std::make_unique<Sleeper>(/*spins=*/setting.ends.size() <= availableCores()));
    pointers.push_back(sleepers.back().get());
  }
  StatusOr<LocalTransports> transports =
      backend == Backend::Local
          ? connectLocal(setting.ends, pointers, setting.limit)
          : connectRendezvous(setting.ends, pointers, setting.limit, /*merging=*/{});
  ASSERT_TRUE(transports.ok()) << transports.status().message();
  runThreads(setting.ends.size(), [&](std::uint32_t index) {
    Rank rank{index, (*transports)[index].get()};
    body(rank);
  });
}

void runGloo(const Setting &setting, const std::function<void(Rank &)> &body) {
  const StatusOr<std::unique_ptr<TcpStoreServer>> server = TcpStoreServer::listen("127.0.0.1", 0);
  ASSERT_TRUE(server.ok()) << server.status().message();
  (*server)->serve();
  // A rank that leaves as soon as it has met its peers would break off the meeting of the others.
  std::barrier allHaveMet(static_cast<std::ptrdiff_t>(setting.ends.size()));
  runThreads(setting.ends.size(), [&](std::uint32_t index) {
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    StatusOr<TcpStore> store =
        TcpStore::connect({"127.0.0.1", (*server)->port()}, /*prefix=*/"", deadline);
    ASSERT_TRUE(store.ok()) << store.status().message();
    StatusOr<std::unique_ptr<Transport>> transport =
        connectGloo(setting.ends[index], {.store = *store,
                                          .address = "127.0.0.1",
                                          .peers = peersOf(setting.ends[index]),
                                          .deadline = deadline,
                                          .limit = setting.limit});
    allHaveMet.arrive_and_wait();
    ASSERT_TRUE(transport.ok()) << transport.status().message();
    Rank rank{index, transport->get()};
    body(rank);
  });
}

} // namespace

void runRanks(Backend backend, const Setting &setting, const std::function<void(Rank &)> &body) {
  backend == Backend::Gloo ? runGloo(setting, body) : runThreaded(backend, setting, body);
}

std::string nameOf(Backend backend) {
  constexpr const char *kNames[] = {"Local", "Gloo", "Rendezvous"};
  return kNames[static_cast<std::size_t>(backend)];
}

std::vector<RankEnds> noEnds(std::uint32_t ranks) {
  std::vector<RankEnds> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    all.push_back({.rank = rank, .ranks = ranks});
  return all;
}

void addChannel(std::vector<RankEnds> &ranks, std::uint32_t source, std::uint32_t destination,
                plan::Flow flow) {
  ranks[source].ends.push_back({.kind = plan::LaneKind::Send, .flow = flow, .peer = destination});
  ranks[destination].ends.push_back(
      {.kind = plan::LaneKind::Receive, .flow = flow, .peer = source});
}

void addGroup(std::vector<RankEnds> &ranks, std::uint32_t group, plan::Collective operation,
              std::uint32_t root) {
  std::vector<std::uint32_t> members;
  for (const RankEnds &rank : ranks)
    members.push_back(rank.rank);
  for (RankEnds &rank : ranks)
    rank.ends.push_back({.kind = plan::LaneKind::Group,
                         .flow = plan::Flow::Control,
                         .group = group,
                         .operation = operation,
                         .members = members,
                         .root = root});
}

} // namespace vime
