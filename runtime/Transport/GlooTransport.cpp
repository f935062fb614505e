// Gloo transport: the ranks are processes, joined by TCP (plug-in, see GlooPlugin.h).
//
// Every transfer is Gloo's send or receive of one unbound buffer under a 64-bit slot made from
// (channel, index); a collective is one such message per member, a sum many of them
// (ChainReduction.h, ScatterReduction.h) that go on while its end is awaited. Gloo's own thread
// moves the bytes, so posting never waits. About ten allocations a transfer happen inside Gloo.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include "runtime/Transport/ChainReduction.h"
#include "runtime/Transport/Ends.h"
#include "runtime/Transport/GlooMesh.h"
#include "runtime/Transport/ScatterReduction.h"

namespace vime {
namespace {

using Buffer = gloo::transport::UnboundBuffer;
using Clock = std::chrono::steady_clock;

/// One message of a transfer, on its way.
struct Message {
  std::unique_ptr<Buffer> buffer;
  std::uint32_t peer = 0;
  bool sends = false;
};

/// The open transfers of one end, oldest first: a ring.
struct OpenEnd {
  std::atomic<std::uint64_t> finished{0};
  std::uint64_t posted = 0;
  std::array<std::vector<Message>, kOpenTransfers> ring;
  std::optional<Payload> sum;                // that is to be awaited
  std::vector<std::uint32_t> sent, received; // chunks of sums, by member
};

bool sums(const End &end) {
  return end.kind == plan::LaneKind::Group && plan::addsUp(end.operation);
}

/// Unique among the open messages between two ranks: what, from whom, which. Indices may wrap: few
/// are open at a time.
std::uint64_t slotOf(const End &end, std::uint32_t source, std::uint64_t index) {
  const bool isGroup = end.kind == plan::LaneKind::Group;
  const std::uint64_t what = isGroup ? end.group : static_cast<std::uint64_t>(end.flow);
  return std::uint64_t(isGroup) << 63 | (what & 0x7FFF) << 48 |
         std::uint64_t(source & 0xFFFF) << 32 | (index & 0xFFFFFFFF);
}

class GlooTransport final : public Transport {
public:
  GlooTransport(std::unique_ptr<GlooMesh> mesh, const RankEnds &ends,
                std::chrono::milliseconds limit)
      : mesh(std::move(mesh)), spec(ends), limit(limit),
        open(std::make_unique<OpenEnd[]>(ends.ends.size())) {}
  ~GlooTransport() override { abort(); }

  Status post(std::uint32_t end, Payload payload) override {
    OpenEnd &own = open[end];
    if (sums(spec.ends[end]))
      return postSum(end, payload);
    if (own.posted >= kOpenTransfers)
      if (Status status = await(end, own.posted + 1 - kOpenTransfers); !status.ok())
        return status;
    std::vector<Message> &messages = own.ring[own.posted % kOpenTransfers];
    try {
      start(spec.ends[end], own.posted, payload, messages);
    } catch (const std::exception &error) {
      return lost(messages.empty() ? spec.rank : messages.back().peer, end, error.what());
    }
    ++own.posted;
    return Status();
  }

  const std::atomic<std::uint64_t> &finished(std::uint32_t end) const override {
    return open[end].finished;
  }

  Status await(std::uint32_t end, std::uint64_t count) override {
    OpenEnd &own = open[end];
    const Clock::time_point deadline = Clock::now() + limit;
    if (sums(spec.ends[end]))
      return own.finished.load(std::memory_order_relaxed) < count ? sum(end, deadline) : Status();
    for (std::uint64_t index = own.finished.load(std::memory_order_relaxed); index < count;
         ++index) {
      for (Message &message : own.ring[index % kOpenTransfers])
        if (Status status = awaitMessage(message, end, index, deadline); !status.ok())
          return status;
      own.ring[index % kOpenTransfers].clear();
      own.finished.store(index + 1, std::memory_order_release);
    }
    return Status();
  }

  void abort() override {
    stopped = true;
    mesh->close();
  }

private:
  std::uint32_t self() const { return spec.rank; }

  void start(const End &end, std::uint64_t index, const Payload &payload,
             std::vector<Message> &messages) {
    if (end.kind == plan::LaneKind::Send)
      return send(end, index, end.peer, payload, messages);
    if (end.kind == plan::LaneKind::Receive)
      return receive(end, index, end.peer, payload.destination, payload.bytes, messages);
    startCollective(end, index, payload, messages);
  }

  /// One sum is open at a time.
  Status postSum(std::uint32_t end, const Payload &payload) {
    OpenEnd &own = open[end];
    if (own.sum)
      if (Status status = await(end, own.posted); !status.ok())
        return status;
    own.sum = payload;
    own.sent.resize(spec.ends[end].members.size());
    own.received.resize(spec.ends[end].members.size());
    ++own.posted;
    return Status();
  }

  Status sum(std::uint32_t end, Clock::time_point deadline) {
    OpenEnd &own = open[end];
    const std::vector<std::uint32_t> &members = spec.ends[end].members;
    SumLinks links(*this, end, deadline);
    try {
      const bool scatters = spec.ends[end].operation == plan::Collective::ReduceScatter;
      const auto reduce = scatters ? reduceToParts : reduceAlongChain;
      if (Status status = reduce(*own.sum, partyOf(spec.ends[end], self()),
                                 static_cast<std::uint32_t>(members.size()), links);
          !status.ok())
        return status;
    } catch (const std::exception &error) {
      return lost(links.latestPeer(), end, error.what());
    }
    own.sum.reset();
    own.finished.store(own.posted, std::memory_order_release);
    return Status();
  }

  /// The messages of one sum. Both ends count chunks alike, so that slots agree.
  class SumLinks final : public ChainLinks {
  public:
    SumLinks(GlooTransport &transport, std::uint32_t end, Clock::time_point deadline)
        : transport(transport), spec(transport.spec.ends[end]), end(end), deadline(deadline),
          queues(spec.members.size()) {}

    void send(std::uint32_t member, const void *source, std::size_t bytes) override {
      std::vector<Message> message;
      transport.send(spec, transport.open[end].sent[member]++, peerOf(member),
                     {.source = source, .bytes = bytes}, message);
      queues[member].sends.push_back(std::move(message.front()));
    }
    void receive(std::uint32_t member, void *destination, std::size_t bytes) override {
      std::vector<Message> message;
      transport.receive(spec, transport.open[end].received[member]++, peerOf(member), destination,
                        bytes, message);
      queues[member].receives.push_back(std::move(message.front()));
    }
    Status awaitSend(std::uint32_t member) override { return oldest(queues[member].sends); }
    Status awaitReceive(std::uint32_t member) override { return oldest(queues[member].receives); }
    std::uint32_t latestPeer() const { return latest; }

  private:
    struct Queues {
      std::deque<Message> sends, receives;
    };
    std::uint32_t peerOf(std::uint32_t member) { return latest = spec.members[member]; }
    Status oldest(std::deque<Message> &messages) {
      Status status =
          transport.awaitMessage(messages.front(), end, transport.open[end].posted - 1, deadline);
      messages.pop_front();
      return status;
    }

    GlooTransport &transport;
    const End &spec;
    const std::uint32_t end;
    const Clock::time_point deadline;
    std::uint32_t latest = 0;
    std::vector<Queues> queues; // by member
  };

  /// Every member is a source, or only the root; every member collects, or only the root, or all
  /// but the root.
  void startCollective(const End &end, std::uint64_t index, const Payload &payload,
                       std::vector<Message> &messages) {
    const std::uint32_t root = end.members[end.root];
    const bool broadcasts = end.operation == plan::Collective::Broadcast ||
                            end.operation == plan::Collective::BroadcastWeights;
    const bool everybody =
        end.operation == plan::Collective::AllGather || end.operation == plan::Collective::Unshard;
    for (std::uint32_t member = 0; member < end.members.size(); ++member) {
      const std::uint32_t peer = end.members[member];
      const bool takes = everybody || (broadcasts ? peer == root : self() == root);
      std::byte *destination = static_cast<std::byte *>(payload.destination);
      if (takes && !broadcasts) // who takes nothing has no place for it
        destination += member * payload.bytes;
      if (peer == self()) {
        if (takes && !broadcasts && payload.bytes != 0)
          std::memmove(destination, payload.source, payload.bytes);
        continue;
      }
      if (takes)
        receive(end, index, peer, destination, payload.bytes, messages);
      if (everybody || (broadcasts ? self() == root : peer == root))
        send(end, index, peer, payload, messages);
    }
  }

  void send(const End &end, std::uint64_t index, std::uint32_t peer, const Payload &payload,
            std::vector<Message> &messages) {
    start({mesh->buffer(const_cast<void *>(payload.source), payload.bytes), peer, /*sends=*/true},
          slotOf(end, self(), index), messages);
  }

  void receive(const End &end, std::uint64_t index, std::uint32_t peer, void *destination,
               std::size_t bytes, std::vector<Message> &messages) {
    start({mesh->buffer(destination, bytes), peer, /*sends=*/false}, slotOf(end, peer, index),
          messages);
  }

  void start(Message message, std::uint64_t slot, std::vector<Message> &messages) {
    mesh->thread().start({.buffer = message.buffer.get(),
                          .peer = static_cast<int>(message.peer),
                          .slot = slot,
                          .sends = message.sends});
    messages.push_back(std::move(message));
  }

  Status awaitMessage(Message &message, std::uint32_t end, std::uint64_t index,
                      Clock::time_point deadline) {
    // When its time is over, Gloo's own wait closes all connections, which waits for Gloo's thread:
    // that must not be waiting for a connection then.
    if (!mesh->thread().awaitStarted(deadline - Clock::now()))
      return stopped ? lost(message.peer, end, "") : late(message.peer, end, index);
    if (const auto why = mesh->thread().failureOf(static_cast<int>(message.peer)))
      return lost(message.peer, end, *why);
    // Rounded up: a time-out of Gloo's before the deadline would look like a lost peer.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto patience = std::max(left, std::chrono::milliseconds(1));
    try {
      if (message.sends ? message.buffer->waitSend(patience) : message.buffer->waitRecv(patience))
        return Status();
    } catch (const std::exception &error) {
      if (Clock::now() < deadline)
        return lost(message.peer, end, error.what());
    }
    return late(message.peer, end, index);
  }

  Status late(std::uint32_t peer, std::uint32_t end, std::uint64_t index) const {
    return Status(StatusCode::Hang,
                  fmt::format("rank {} did not come to transfer {} of {} within {} s", peer, index,
                              describe(spec.ends[end], self()),
                              std::chrono::duration<double>(limit).count()));
  }

  Status lost(std::uint32_t peer, std::uint32_t end, const std::string &why) const {
    if (stopped)
      return Status(StatusCode::Interrupted, "stopped because the run is over");
    return Status(StatusCode::RankFailed, fmt::format("lost rank {} on {}: {}", peer,
                                                      describe(spec.ends[end], self()), why));
  }

  const std::unique_ptr<GlooMesh> mesh;
  const RankEnds spec;
  const std::chrono::milliseconds limit;
  const std::unique_ptr<OpenEnd[]> open; // by end
  std::atomic<bool> stopped{false};
};

} // namespace
} // namespace vime

extern "C" {
extern const std::uint64_t vimeGlooInterface;
const std::uint64_t vimeGlooInterface = vime::kGlooInterface;
}

extern "C" vime::Transport *vimeConnectGloo(const vime::RankEnds &ends,
                                            const vime::GlooRendezvous &rendezvous,
                                            vime::Status &status) {
  try {
    gloo::transport::tcp::attr attribute(rendezvous.address.c_str());
    auto mesh =
        std::make_unique<vime::GlooMesh>(std::static_pointer_cast<gloo::transport::tcp::Device>(
                                             gloo::transport::tcp::CreateDevice(attribute)),
                                         static_cast<int>(ends.rank), static_cast<int>(ends.ranks));
    status = mesh->join(rendezvous);
    if (!status.ok())
      return nullptr;
    return new vime::GlooTransport(std::move(mesh), ends, rendezvous.limit);
  } catch (const std::exception &error) {
    status = vime::Status(vime::StatusCode::RankFailed,
                          std::string("cannot start the transport `gloo`: ") + error.what());
    return nullptr;
  }
}
