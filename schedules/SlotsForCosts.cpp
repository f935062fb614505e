#include "schedules/SlotsForCosts.h"
#include "schedules/TransferRows.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace vime {

std::optional<std::int64_t> timeWithSlots(const Schedule &order, int microbatches, UnitCosts costs,
                                          const ReceiveSlots &slots) {
  const auto clock = layClock(order, microbatches, slots);
  return clock ? rendezvous(rowsOf(*clock, order, microbatches, slots), costs, Queues::PerFlow)
               : std::nullopt;
}

int slotsForCosts(const Schedule &order, int microbatches, UnitCosts costs) {
  constexpr int kMostTried = 12;
  // A message that is on its way for n tasks needs n more slots, each of which is half a task.
  const int shortest = std::min({costs.forward, costs.backwardInput, costs.backwardWeight});
  const int tasks = std::min(costs.transfer / std::max(shortest, 1), kMostTried);
  const int most = std::min(kUsualSlots + 2 * (tasks + 1), kMostTried);
  std::vector<std::int64_t> times;
  for (int slots = kUsualSlots; slots <= most; ++slots)
    times.push_back(timeWithSlots(order, microbatches, costs, {{slots}})
                        .value_or(std::numeric_limits<std::int64_t>::max()));
  const std::int64_t best = *std::min_element(times.begin(), times.end());
  const auto enough = std::find_if(times.begin(), times.end(),
                                   [&](std::int64_t time) { return time <= best + best / 200; });
  return kUsualSlots + static_cast<int>(enough - times.begin());
}

} // namespace vime
