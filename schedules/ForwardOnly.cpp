#include "schedules/ForwardOnly.h"

#include <algorithm>

namespace vime {

Schedule forwardOnly(const Placement &placement, int ranks, int microbatches, int slices) {
  Schedule order{placement, std::vector<std::vector<Task>>(static_cast<std::size_t>(ranks)),
                 /*copies=*/1, slices};
  const int stages = static_cast<int>(placement.size());
  for (int group = 0; group < microbatches; group += ranks)
    for (int stage = 0; stage < stages; ++stage)
      for (int microbatch = group; microbatch < std::min(group + ranks, microbatches); ++microbatch)
        order.rows[static_cast<std::size_t>(placement[static_cast<std::size_t>(stage)])].push_back(
            {TaskKind::Forward, stage, microbatch});
  return order;
}

} // namespace vime
