// Meeting: a group of threads of one process.
//
// Party k's n-th arrival meets the n-th arrivals of all others; the last to arrive copies for
// everybody and advances all counters: one atomic addition per end, no lock, no buffer, no heap. A
// party arrives again only after its own call returned, and the last one copies inside its call, so
// transfers finish in order.
//
// A broadcast does not wait for everybody: a member has finished as soon as it and the root are
// there, the second of the two copies. So who comes early can go on without those who come late.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/Transport/LocalEnd.h"

namespace vime {

/// How payloads of all parties become one transfer. Party `root` is the sender, or the root of the
/// collective.
using Exchange = void (*)(std::span<const Payload> parties, std::uint32_t root);

class Meeting {
public:
  Meeting(std::uint32_t parties, std::uint32_t root, Exchange exchange);

  void join(std::uint32_t party, Sleeper &sleeper) { this->parties[party].sleeper = &sleeper; }

  /// Arrives for transfer `index`, its next one; fewer than kOpenTransfers of this party are open.
  /// False when sizes differ.
  bool arrive(std::uint32_t party, std::uint64_t index, const Payload &payload);

  const std::atomic<std::uint64_t> &finished(std::uint32_t party) const {
    return parties[party].finished;
  }

  /// A party that has not arrived for transfer `index` yet, or -1.
  int missing(std::uint64_t index) const;

private:
  struct alignas(64) Party {
    std::atomic<std::uint64_t> finished{0};
    std::atomic<std::uint64_t> arrivals{0}; // read by others only to name who is late
    Sleeper *sleeper = nullptr;
  };

  bool isBroadcast() const { return come != nullptr; }
  bool arriveAtBroadcast(std::uint32_t party, std::uint64_t index);
  bool deliver(std::uint32_t member, std::uint64_t index);
  std::atomic<std::uint8_t> &comeFor(std::uint32_t member, std::uint64_t index) {
    return come[(index % kOpenTransfers) * count + member];
  }

  std::span<Payload> payloadsOf(std::uint64_t index) {
    return {payloads.get() + (index % kOpenTransfers) * count, count};
  }

  const std::uint32_t count, root;
  const Exchange exchange;
  std::unique_ptr<Party[]> parties;
  std::unique_ptr<Payload[]> payloads;                   // kOpenTransfers × count
  std::unique_ptr<std::atomic<std::uint32_t>[]> arrived; // kOpenTransfers; of a broadcast: served
  /// Of a broadcast for each member whether it and the root are there: kOpenTransfers × count.
  std::unique_ptr<std::atomic<std::uint8_t>[]> come;
};

/// What a message does, and what each collective does.
void exchangeMessage(std::span<const Payload> parties, std::uint32_t root);
Exchange exchangeOf(plan::Collective operation);

class MeetingEnd final : public LocalEnd {
public:
  MeetingEnd(std::shared_ptr<Meeting> meeting, std::uint32_t party)
      : meeting(std::move(meeting)), party(party) {}

  bool hasRoom() override { return postedCount - finished().load() < kOpenTransfers; }
  bool post(const Payload &payload) override {
    return meeting->arrive(party, postedCount++, payload);
  }
  Sleeper::Cause cause() const override { return Sleeper::causeOf(&finished()); }
  int missing(std::uint64_t index) const override { return meeting->missing(index); }
  const std::atomic<std::uint64_t> &finished() const override { return meeting->finished(party); }

private:
  const std::shared_ptr<Meeting> meeting;
  const std::uint32_t party;
};

} // namespace vime
