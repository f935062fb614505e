// Knowledge: for each action of a rank, how far every lane is known to be finished when it starts.
//
//   forEachKnowing(table, rank, [&](const Knowing &now) { now.knows(lane, position) … });
//
// Lanes run side by side: an action starts when the one before it on its lane and everything it waits for has finished.
// What those knew, it knows too. Nothing else orders two lanes: neither times nor what a dispatcher happens to do.
// This is a vector clock with one component a lane; a wait reaches back at most 1023 actions of a lane, so that many
// clocks of each lane are kept.
//
// Loops: prologue, two iterations, what follows. That is enough for any number of them. An edge between two actions of
// the body (next on the lane, or waits for) has its like in all later iterations, so a path from one iteration to
// the next, or within one, exists in all of them; and conflicts over two or more iterations are ordered through the ones
// between, since each action comes after itself of the iteration before. Prologue to iteration 0 and the last iteration
// to what follows are seen as they are, as a wait behind the loop counts from its end.
// A wait that reaches before the start is satisfied and tells nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// An action about to start.
struct Knowing {
  std::uint32_t entry = 0;
  const plan::Action *action = nullptr;
  std::uint32_t position = 0;            // on its lane, from 1
  const std::uint32_t *known = nullptr;  // for each lane the last position known to be finished; padded to `width`
  std::uint32_t width = 0;
  bool knows(std::uint32_t lane, std::uint32_t wanted) const { return known[lane] >= wanted; }
};

class LaneClocks {
public:
  explicit LaneClocks(std::size_t lanes)
      : width((static_cast<std::uint32_t>(lanes) + 7) / 8 * 8), kept(lanes * kKept * width), count(lanes, 0),
        current(width) {}

  /// What the action knows when it starts; valid until the next call.
  Knowing start(std::uint32_t entry, const plan::Action &action) {
    const std::uint32_t lane = action.lane;
    if (count[lane] == 0)
      std::fill(current.begin(), current.end(), 0);
    else
      std::copy_n(clock(lane, count[lane]), width, current.begin());
    for (const plan::Wait &wait : action.waits)
      if (!wait.empty())
        learn(static_cast<std::uint32_t>(wait.lane()), static_cast<std::uint32_t>(wait.distance()));
    return {entry, &action, count[lane] + 1, current.data(), width};
  }

  void finish(const plan::Action &action) {
    const std::uint32_t position = ++count[action.lane];
    current[action.lane] = position;
    std::copy_n(current.begin(), width, clock(action.lane, position));
  }

private:
  static constexpr std::uint32_t kKept = plan::Wait::kMaxDistance + 1;

  std::uint32_t *clock(std::uint32_t lane, std::uint32_t position) {
    return kept.data() + (std::size_t{lane} * kKept + position % kKept) * width;
  }

  void learn(std::uint32_t lane, std::uint32_t distance) {
    if (distance > count[lane])
      return;
    const std::uint32_t position = count[lane] - distance + 1;
    if (current[lane] >= position)
      return; // and so all that it knew
    const std::uint32_t *other = clock(lane, position);
    for (std::uint32_t component = 0; component < width; ++component)
      current[component] = std::max(current[component], other[component]);
  }

  std::uint32_t width;
  std::vector<std::uint32_t> kept;  // the latest clocks of each lane, after the action
  std::vector<std::uint32_t> count; // dispatched on each lane
  std::vector<std::uint32_t> current;
};

/// Calls `visit(segment, iteration, entry)` in dispatch order, of each loop two iterations.
template <typename Visit> void forEachDispatched(const RankView &rank, Visit &&visit) {
  for (std::uint32_t segment = 0; segment < rank.segments.size(); ++segment) {
    const Segment &body = rank.segments[segment];
    for (std::uint32_t iteration = 0; iteration < std::min<std::uint64_t>(body.trips, 2); ++iteration)
      for (std::uint32_t entry = body.first; entry < body.end; ++entry)
        visit(segment, iteration, entry);
  }
}

template <typename Visit> void forEachKnowing(const ActionTable &table, const RankView &rank, Visit &&visit) {
  LaneClocks clocks(rank.program->lanes.size());
  forEachDispatched(rank, [&](std::uint32_t, std::uint32_t, std::uint32_t entry) {
    const plan::Action &action = table.action(rank, entry);
    visit(clocks.start(entry, action));
    clocks.finish(action);
  });
}

/// The entry at a position of `Knowing`.
std::uint32_t entryAt(const ActionTable &table, const RankView &rank, std::uint32_t lane, std::uint32_t position);

} // namespace vime::verify
