// Rendezvous transport: the strictest one that the execution model knows, for tests. The ranks are
// threads of one process.
//
//   connectRendezvous(endsOfAllRanks, sleepers, 600s, {.kind = QueueMerging::Kind::All});
//
// A transfer happens only when all of its ends are posted and stand at the heads of their queues;
// then it completes at all ends at once. Nothing is buffered. An end has a queue of its own, or
// shares one with other ends of its rank: there a post also waits for all posts before it. What C2
// accepts finishes under any merging of queues (execution-model.md, transport theorem); what gets
// stuck is told at once, with what every rank waits for.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Transport/LocalTransport.h"

namespace vime {

/// Which ends of a rank share a queue.
struct QueueMerging {
  enum class Kind : std::uint8_t { None, All, Random };
  Kind kind = Kind::None;
  std::uint64_t seed = 0; // of Random
};

/// For each end the queue that it posts to.
std::vector<std::uint32_t> queuesOf(const RankEnds &ends, QueueMerging merging);

/// As connectLocal.
StatusOr<LocalTransports> connectRendezvous(std::span<const RankEnds> ranks,
                                            std::span<Sleeper *const> sleepers,
                                            std::chrono::nanoseconds limit, QueueMerging merging);

} // namespace vime
