// Local transport: the ranks are threads of one process.
//
//   std::vector<std::unique_ptr<Sleeper>> sleepers = …;             // one per rank
//   StatusOr<LocalTransports> ranks = connectLocal(endsOfAllRanks, sleepers, 600s);
//
// Messages go through channels (Channel.h), collectives are meetings (Meeting.h).
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "runtime/Transport/Sleeper.h"
#include "runtime/Transport/Transport.h"

namespace vime {

using LocalTransports = std::vector<std::unique_ptr<Transport>>; // by rank

/// One transport for each rank. `Unacceptable` when the ranks disagree about a channel or group.
/// `sleepers` (one per rank) and the transports of the other ranks must outlive each transport's
/// use; abort interrupts all sleepers.
StatusOr<LocalTransports> connectLocal(std::span<const RankEnds> ranks,
                                       std::span<Sleeper *const> sleepers,
                                       std::chrono::nanoseconds limit);

} // namespace vime
