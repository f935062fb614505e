// Queues: what the actions of each lane have come to, while a plan is simulated.
#pragma once

#include <cstdint>
#include <vector>

namespace vime {

/// The queue of a rank's lane: when its actions ended, as far as that is known, and which they are.
struct LaneQueue {
  std::vector<std::int64_t> ends;
  std::vector<std::uint32_t> entries; // of all dispatched ones
  std::int64_t freeAt = 0;            // of a worker
};

/// An action that no rank's dispatcher runs has ended, or is known to end then.
struct EndOnLane {
  std::uint32_t lane; // of the table
  std::uint32_t entry;
  std::int64_t end;
};

} // namespace vime
