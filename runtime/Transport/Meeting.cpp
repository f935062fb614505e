#include "runtime/Transport/Meeting.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/Transport/Reduce.h"

namespace vime {
namespace {

void copy(void *destination, const void *source, std::size_t bytes) {
  if (bytes != 0 && destination != source)
    std::memcpy(destination, source, bytes);
}

void place(const Payload &target, std::span<const Payload> parties) {
  auto *destination = static_cast<std::byte *>(target.destination);
  for (const Payload &party : parties) {
    copy(destination, party.source, party.bytes);
    destination += party.bytes;
  }
}

void exchangeGather(std::span<const Payload> parties, std::uint32_t root) {
  place(parties[root], parties);
}

/// Block by block through a sum that stays in the cache. Who has come last adds for everybody.
template <typename PartOf, typename Take>
void addBlocks(DataType type, std::size_t partBytes, std::span<const Payload> parties,
               PartOf partOf, Take take) {
  alignas(64) std::array<std::byte, 16384> sum;
  for (std::size_t begin = 0; begin < partBytes; begin += sum.size()) {
    const std::size_t bytes = std::min(sum.size(), partBytes - begin);
    std::memcpy(sum.data(), partOf(parties.front()) + begin, bytes);
    for (const Payload &party : parties.subspan(1))
      addTo(type, sum.data(), partOf(party) + begin, bytes);
    take(begin, sum.data(), bytes);
  }
}

void exchangeAllReduce(std::span<const Payload> parties, std::uint32_t) {
  const auto wholeOf = [](const Payload &party) {
    return static_cast<std::byte *>(party.destination);
  };
  const Payload &first = parties.front();
  addBlocks(first.type, first.bytes, parties, wholeOf,
            [&](std::size_t begin, const std::byte *sum, std::size_t bytes) {
              for (const Payload &party : parties)
                std::memcpy(wholeOf(party) + begin, sum, bytes);
            });
}

/// Each share from all members to the one that keeps it, where only its own lies.
void exchangeReduceScatter(std::span<const Payload> parties, std::uint32_t) {
  const Payload &first = parties.front();
  const std::size_t share = first.bytes / parties.size();
  for (std::size_t member = 0; member < parties.size(); ++member) {
    const auto shareOf = [&](const Payload &party) {
      return static_cast<std::byte *>(party.destination) + member * share;
    };
    addBlocks(first.type, share, parties, shareOf,
              [&](std::size_t begin, const std::byte *sum, std::size_t bytes) {
                std::memcpy(shareOf(parties[member]) + begin, sum, bytes);
              });
  }
}

void exchangeAllGather(std::span<const Payload> parties, std::uint32_t) {
  for (const Payload &party : parties)
    place(party, parties);
}

} // namespace

void exchangeMessage(std::span<const Payload> parties, std::uint32_t root) {
  for (std::uint32_t party = 0; party < parties.size(); ++party)
    if (party != root)
      copy(parties[party].destination, parties[root].source, parties[root].bytes);
}

Exchange exchangeOf(plan::Collective operation) {
  constexpr Exchange kExchanges[] = {exchangeMessage,   exchangeGather,    exchangeAllGather,
                                     exchangeAllReduce, exchangeAllGather, exchangeReduceScatter,
                                     exchangeAllReduce, exchangeMessage};
  return kExchanges[static_cast<std::size_t>(operation)];
}

Meeting::Meeting(std::uint32_t parties, std::uint32_t root, Exchange exchange)
    : count(parties), root(root), exchange(exchange), parties(std::make_unique<Party[]>(parties)),
      payloads(std::make_unique<Payload[]>(std::size_t(kOpenTransfers) * parties)),
      arrived(std::make_unique<std::atomic<std::uint32_t>[]>(kOpenTransfers)) {
  if (exchange == exchangeMessage && count > 2) // of two parties both are there or none is
    come = std::make_unique<std::atomic<std::uint8_t>[]>(std::size_t(kOpenTransfers) * count);
}

bool Meeting::arrive(std::uint32_t party, std::uint64_t index, const Payload &payload) {
  const std::span<Payload> all = payloadsOf(index);
  all[party] = payload;
  parties[party].arrivals.store(index + 1, std::memory_order_relaxed);
  if (isBroadcast())
    return arriveAtBroadcast(party, index);
  std::atomic<std::uint32_t> &here = arrived[index % kOpenTransfers];
  if (here.fetch_add(1, std::memory_order_acq_rel) + 1 != count)
    return true;
  for (const Payload &other : all)
    if (other.bytes != payload.bytes)
      return false;
  exchange(all, root);
  here.store(0, std::memory_order_relaxed); // published by the counters, which every party reads
                                            // before it comes again
  for (std::uint32_t other = 0; other < count; ++other)
    parties[other].sleeper->advance(parties[other].finished, index + 1);
  return true;
}

namespace {

constexpr std::uint8_t kMemberCame = 1, kRootCame = 2;

} // namespace

bool Meeting::arriveAtBroadcast(std::uint32_t party, std::uint64_t index) {
  if (party != root)
    return (comeFor(party, index).fetch_or(kMemberCame, std::memory_order_acq_rel) & kRootCame) ==
               0 ||
           deliver(party, index);
  for (std::uint32_t member = 0; member < count; ++member)
    if (member != root &&
        (comeFor(member, index).fetch_or(kRootCame, std::memory_order_acq_rel) & kMemberCame) !=
            0 &&
        !deliver(member, index))
      return false;
  return true;
}

/// The root and the member are there. Nobody else touches their places until the counters, which
/// both read before they come again, say so.
bool Meeting::deliver(std::uint32_t member, std::uint64_t index) {
  const std::span<Payload> all = payloadsOf(index);
  if (all[member].bytes != all[root].bytes)
    return false;
  copy(all[member].destination, all[root].source, all[root].bytes);
  comeFor(member, index).store(0, std::memory_order_relaxed);
  parties[member].sleeper->advance(parties[member].finished, index + 1);
  std::atomic<std::uint32_t> &served = arrived[index % kOpenTransfers];
  if (served.fetch_add(1, std::memory_order_acq_rel) + 2 != count)
    return true;
  served.store(0, std::memory_order_relaxed);
  parties[root].sleeper->advance(parties[root].finished, index + 1);
  return true;
}

int Meeting::missing(std::uint64_t index) const {
  for (std::uint32_t party = 0; party < count; ++party)
    if (parties[party].arrivals.load(std::memory_order_relaxed) <= index)
      return static_cast<int>(party);
  return -1;
}

} // namespace vime
