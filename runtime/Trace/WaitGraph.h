// WaitGraph: which rank waited for which, from program counters.
//
//   for (const Wait &wait : waitsOf(plan, records)) … wait.rank, wait.lane, wait.on
//
// A rank waits for a count of a lane; how far the others are with the same channel or group stands
// in their records. Who is behind has not come; if all have come, the transfer itself is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "runtime/Trace/ReadFlight.h"

namespace vime::flight {

struct Wait {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint64_t count = 0;         // of that lane to be finished
  std::vector<std::uint32_t> on;   // ranks that have not come, ascending
  std::vector<std::uint32_t> with; // all others at the channel or group; empty: a lane of its own
  /// Every rank with a record has come: it is the transfer that does not.
  bool isInTransit() const { return on.empty() && !with.empty(); }
};

/// By rank; null for a rank without a record of this plan.
using RecordsByRank = std::vector<const FlightRecord *>;

/// Of every rank that waits for a lane, also of one that has given up waiting.
std::vector<Wait> waitsOf(const plan::Plan &plan, const RecordsByRank &records);

} // namespace vime::flight
