// Transport: how the transfers and collectives of one rank reach its peers.
//
//   Status posted = transport.post(end, {.source = activation, .bytes = 4096}); // the k-th post of
//   this end, k = 0, 1, … … // compute meanwhile Status landed = transport.await(end, k + 1); //
//   the first k + 1 have finished
//
// A rank has *ends*: the sending or receiving end of a channel, or its part in a group. The k-th
// posts of all ends of a channel or group are one transfer; nothing is searched for, no tag is
// compared. Transfers of one end finish in order, so that a counter says which have. Backends:
// `local` (LocalTransport.h), `gloo` (GlooPlugin.h), `rendezvous` (RendezvousTransport.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Caps.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// One of a rank's ends. Both ends of a channel, and all members of a group, describe it alike but
/// for their side.
struct End {
  plan::LaneKind kind = plan::LaneKind::Send; // Send, Receive or Group
  plan::Flow flow = plan::Flow::Forward;
  std::uint32_t peer = 0;  // of a channel: the rank at the other end
  std::uint32_t group = 0; // of a group: its index in the plan
  plan::Collective operation = plan::Collective::Broadcast;
  std::vector<std::uint32_t> members; // of a group: its ranks, ascending
  std::uint32_t root = 0;             // of a group: index into `members`
  std::string name;                   // of a group, for messages
};

/// All ends of one rank.
struct RankEnds {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::vector<End> ends;
};

/// What one end brings to a transfer. A sender, and the root of a broadcast, gives a source; a
/// receiver, and the others of a broadcast, a destination. Gather: every member a source, the root
/// also a destination of members × bytes; all-gather: both on every member. Member k's contribution
/// lands at k × bytes, and so of an unshard. All-reduce: `destination` holds the contribution and
/// gets the sum, in which members are added in ascending order, ((g0 + g1) + g2) + …, on every
/// transport; `staging` is room for a part of another member's. Reduce-scatter: likewise, but of
/// `bytes`, as many as there are members, member k has the sum of the k-th part at its place, and
/// all else stays as it was. The memory stays untouched by its owner until the transfer
/// has finished; after a failure it stays there until every rank of the process has stopped.
struct Payload {
  const void *source = nullptr;
  void *destination = nullptr;
  std::size_t bytes = 0;          // of one contribution; equal at all ends
  DataType type = DataType::Byte; // of what is added up
  void *staging = nullptr;
  std::size_t stagingBytes = 0; // at least kLeastStaging
};

/// Elements of any type fit into it as a whole.
constexpr std::size_t kLeastStaging = 64;

/// Transfers of one end that may be open at a time; a further post waits for the oldest.
constexpr std::uint32_t kOpenTransfers = plan::kMostOpenTransfers;

class Transport {
public:
  virtual ~Transport() = default;

  /// The next transfer of an end; does not wait for the peer unless kOpenTransfers are open. From
  /// the rank's own thread. A sum may go on only while somebody awaits it.
  virtual Status post(std::uint32_t end, Payload payload) = 0;

  /// How many transfers of an end have finished, as far as known: `await` looks closer. Valid as
  /// long as the transport.
  virtual const std::atomic<std::uint64_t> &finished(std::uint32_t end) const = 0;

  /// Returns when the first `count` transfers of an end have finished. `Hang` when the time limit
  /// passes, naming the peer; `RankFailed` when a peer is gone, `Interrupted` after `abort` in this
  /// process. Any failure is final for the whole transport.
  virtual Status await(std::uint32_t end, std::uint64_t count) = 0;

  /// Ends the run: every blocked or later call fails, here and (soon) on all peers. From any
  /// thread, any number of times.
  virtual void abort() = 0;
};

/// `rank 1 → rank 2, forward`, or `group step`.
std::string describe(const End &end, std::uint32_t rank);

} // namespace vime
