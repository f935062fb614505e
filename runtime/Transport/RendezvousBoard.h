// Rendezvous board: where the ranks of a rendezvous transport post, and where transfers happen
// (RendezvousTransport.h).
//
// One lock for all: this is for tests, not for speed.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "runtime/Transport/Ends.h"
#include "runtime/Transport/Meeting.h"
#include "runtime/Transport/RendezvousTransport.h"

namespace vime::rendezvous {

struct Stream;
struct Party;

struct Post {
  Party *party;
  Payload payload;
};

using Queue = std::deque<Post>; // posted and not finished, oldest first

/// A rank's part in a channel or group.
struct Party {
  std::uint32_t rank = 0;
  const End *end = nullptr;
  Stream *stream = nullptr;
  Queue *queue = nullptr;
  std::uint64_t posted = 0;
  std::atomic<std::uint64_t> finished{0};

  bool isAtHead() const { return !queue->empty() && queue->front().party == this; }
  std::string name() const { return describe(*end, rank); }
};

struct Stream {
  std::vector<Party *> parties; // as partyOf counts them
  std::uint32_t root = 0;
  Exchange exchange = exchangeMessage;
};

/// What a rank blocks for.
struct Wanted {
  const Party *party = nullptr;
  std::uint64_t count = 0;
  bool blocks() const { return party && party->finished.load() < count; }
};

class Board {
public:
  Board(std::span<const RankEnds> ranks, std::span<Sleeper *const> sleepers)
      : ends(ranks.begin(), ranks.end()), sleepers(sleepers.begin(), sleepers.end()),
        queues(ranks.size()), parties(ranks.size()), wanted(ranks.size()) {}

  Status seat(QueueMerging merging);

  Party &party(std::uint32_t rank, std::uint32_t end) { return parties[rank][end]; }
  Status post(Party &party, const Payload &payload);
  Status await(const Party &party, std::uint64_t count, std::chrono::nanoseconds limit);

  void stop() {
    for (Sleeper *sleeper : sleepers)
      sleeper->interrupt();
  }

private:
  Status sit(Party &party);
  void meet(Stream &stream);
  bool exchange(Stream &stream);
  void fail(Status status);
  bool isStuck() const;
  Status stuck() const;
  Status late(const Party &party, std::chrono::nanoseconds limit) const;

  const std::vector<RankEnds> ends;
  const std::vector<Sleeper *> sleepers;
  std::map<StreamKey, Stream> streams;
  std::vector<std::deque<Queue>> queues;  // by rank
  std::vector<std::deque<Party>> parties; // by rank and end
  std::mutex mutex;                       // of all below, and of posts
  std::vector<Wanted> wanted;             // by rank
  Status failure;                         // why all were stopped
};

} // namespace vime::rendezvous
