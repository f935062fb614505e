#include "tests/Conformance/TransportRanks.h"

#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/Transport/Ends.h"
#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/RendezvousTransport.h"

namespace vime {
namespace {

/// A folder that is gone when the test is over.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-test-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

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
  const TemporaryFolder store;
  plan::Plan noRounds;
  // A rank that leaves as soon as it has met its peers would break off the meeting of the others.
  std::barrier allHaveMet(static_cast<std::ptrdiff_t>(setting.ends.size()));
  runThreads(setting.ends.size(), [&](std::uint32_t index) {
    const GlooRendezvous rendezvous{.store = store.path,
                                    .planId = "the same",
                                    .peers = peersInConnectOrder(noRounds, setting.ends[index]),
                                    .connectLimit = std::chrono::seconds(20),
                                    .limit = setting.limit};
    StatusOr<std::unique_ptr<Transport>> transport = connectGloo(setting.ends[index], rendezvous);
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
