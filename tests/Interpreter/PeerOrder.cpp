#include "tests/Interpreter/PeerOrder.h"

#include <algorithm>

#include "runtime/Plan/Describe.h"

namespace vime::interpreter {

PeerOrder::PeerOrder(const plan::Plan &plan) {
  std::uint32_t lanes = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    firstLane.push_back(lanes);
    lanes += static_cast<std::uint32_t>(programOf(plan, rank)->lanes.size());
    uses.emplace_back(*layoutOf(plan, rank));
  }
  firstLane.push_back(lanes);
  finished.resize(lanes);
}

/// Behind the latest of each lane that it knows, and so behind all that those were behind.
Clock PeerOrder::startOf(const End &end) const {
  Clock start(finished.size(), 0);
  for (std::uint32_t lane = 0; lane < end.stamp.known.size(); ++lane)
    if (const std::uint32_t position = end.stamp.known[lane]; position != 0) {
      const Clock &other = finished[firstLane[end.seat.rank] + lane][position - 1];
      for (std::size_t index = 0; index < start.size(); ++index)
        start[index] = std::max(start[index], other[index]);
    }
  return start;
}

void PeerOrder::fire(const std::vector<End> &ends) {
  std::vector<Clock> ready;
  for (const End &end : ends) {
    const std::uint32_t first = firstLane[end.seat.rank];
    ready.push_back(startOf(end));
    const Clock &start = ready.back();
    const Stamp stamp{end.stamp.own,
                      Clock(start.begin() + first, start.begin() + firstLane[end.seat.rank + 1]),
                      {}};
    for (const Use &use : end.uses)
      for (const Place &place : use.places)
        if (use.reads || use.writes)
          found = uses[end.seat.rank].use(stamp, place, use.writes).has_value() || found;
    ready.back()[first + end.stamp.own.lane] = end.stamp.own.position;
  }
  for (std::size_t index = 0; index < ends.size(); ++index) {
    Clock end = ready[index];
    for (std::size_t other = 0; other < ends.size() && ends[index].takes; ++other)
      for (std::size_t lane = 0; lane < end.size() && ends[other].gives; ++lane)
        end[lane] = std::max(end[lane], ready[other][lane]);
    finished[firstLane[ends[index].seat.rank] + ends[index].stamp.own.lane].push_back(end);
  }
}

} // namespace vime::interpreter
