#include "runtime/Transport/RendezvousTransport.h"

#include <numeric>

#include "runtime/Transport/Ends.h"
#include "runtime/Transport/RendezvousBoard.h"

namespace vime {
namespace {

using rendezvous::Board;
using rendezvous::Party;

class RendezvousTransport final : public Transport {
public:
  RendezvousTransport(std::shared_ptr<Board> board, std::uint32_t rank,
                      std::chrono::nanoseconds limit)
      : board(std::move(board)), rank(rank), limit(limit) {}

  Status post(std::uint32_t end, Payload payload) override {
    Party &party = board->party(rank, end);
    if (party.posted >= kOpenTransfers)
      if (Status status = await(end, party.posted + 1 - kOpenTransfers); !status.ok())
        return status;
    return board->post(party, payload);
  }

  const std::atomic<std::uint64_t> &finished(std::uint32_t end) const override {
    return board->party(rank, end).finished;
  }

  Status await(std::uint32_t end, std::uint64_t count) override {
    const Party &party = board->party(rank, end);
    if (party.finished.load(std::memory_order_acquire) >= count)
      return Status();
    return board->await(party, count, limit);
  }

  void abort() override { board->stop(); }

private:
  const std::shared_ptr<Board> board;
  const std::uint32_t rank;
  const std::chrono::nanoseconds limit;
};

/// Well-mixed bits of a number (splitmix64).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

} // namespace

std::vector<std::uint32_t> queuesOf(const RankEnds &ends, QueueMerging merging) {
  std::vector<std::uint32_t> queues(ends.ends.size(), 0);
  if (merging.kind == QueueMerging::Kind::None)
    std::iota(queues.begin(), queues.end(), 0u);
  if (merging.kind != QueueMerging::Kind::Random || queues.empty())
    return queues;
  std::uint64_t state = mixed(merging.seed ^ mixed(ends.rank));
  const std::uint64_t used = 1 + state % queues.size();
  for (std::uint32_t &queue : queues) {
    state = mixed(state);
    queue = static_cast<std::uint32_t>(state % used);
  }
  return queues;
}

StatusOr<LocalTransports> connectRendezvous(std::span<const RankEnds> ranks,
                                            std::span<Sleeper *const> sleepers,
                                            std::chrono::nanoseconds limit, QueueMerging merging) {
  for (const RankEnds &rank : ranks)
    if (Status status = checkCaps(rank); !status.ok())
      return status;
  const auto board = std::make_shared<Board>(ranks, sleepers);
  if (Status status = board->seat(merging); !status.ok())
    return status;
  LocalTransports transports;
  for (const RankEnds &rank : ranks)
    transports.push_back(std::make_unique<RendezvousTransport>(board, rank.rank, limit));
  return transports;
}

} // namespace vime
