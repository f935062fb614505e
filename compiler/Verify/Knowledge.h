// Knowledge: for each action of a rank, how far every lane is known to be finished when it starts.
//
//   LaneClocks<16> clocks(rank);
//   const Knowing now = clocks.start(entry, action);
//   now.knows(lane, position) …
//   clocks.finish(action);
//
// Lanes run side by side: an action starts when the one before it on its lane and everything it
// waits for has finished. What those knew, it knows too. Nothing else orders two lanes: neither
// times nor what a dispatcher happens to do. This is a vector clock with one component a lane; a
// wait reaches back at most 1023 actions of a lane, so that many clocks of each lane are kept. A
// wait that reaches before the start is satisfied and tells nothing. At the edges of cases, and at
// the end of a loop that may end early, all lanes are drained: what starts behind them knows
// everything that was dispatched before.
//
// Loops: prologue, two iterations, what follows. That is enough for any number of them. An edge
// between two actions of the body (next on the lane, or waits for) has its like in all later
// iterations, so a path from one iteration to the next, or within one, exists in all of them; and
// conflicts over two or more iterations are ordered through the ones between, since each action
// comes after itself of the iteration before. Prologue to iteration 0 and the last iteration to
// what follows are seen as they are, as a wait behind the loop counts from its end.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// An action about to start.
struct Knowing {
  std::uint32_t entry = 0;
  const plan::Action *action = nullptr;
  std::uint32_t position = 0;           // on its lane, from 1
  const std::uint32_t *known = nullptr; // for each lane the last position known to be finished
  bool knows(std::uint32_t lane, std::uint32_t wanted) const { return known[lane] >= wanted; }
};

template <std::size_t kWidth> class LaneClocks {
  using Clock = std::array<std::uint32_t, kWidth>;

public:
  explicit LaneClocks(const RankView &rank)
      : kept(std::make_unique_for_overwrite<Clock[]>(rank.program->lanes.size() * kKept)),
        count(rank.program->lanes.size(), 0), quiet(rank.quiet), drainedAt(rank.drained) {}

  /// What the action knows when it starts; valid until `finish`.
  Knowing start(std::uint32_t entry, const plan::Action &action) {
    if (!drainedAt.empty() && std::binary_search(drainedAt.begin(), drainedAt.end(), entry))
      drain();
    started = entry;
    const std::uint32_t before = count[action.lane];
    Clock &fresh = clock(action.lane, before + 1);
    if (before == 0)
      fresh = drained;
    else
      fresh = clock(action.lane, before);
    for (const plan::Wait wait : action.waits)
      if (!wait.empty())
        learn(fresh, static_cast<std::uint32_t>(wait.lane()),
              static_cast<std::uint32_t>(wait.distance()));
    return {entry, &action, before + 1, fresh.data()};
  }

  void finish(const plan::Action &action) {
    const std::uint32_t position = ++count[action.lane];
    clock(action.lane, position)[action.lane] = position;
    if (!quiet.empty() && std::binary_search(quiet.begin(), quiet.end(), started))
      drain();
  }

  /// Dispatched on each lane.
  const std::vector<std::uint32_t> &counts() const { return count; }

private:
  // As many as can be waited for, and the one that is being made.
  static constexpr std::uint32_t kKept = plan::Wait::kMaxDistance + 1;

  Clock &clock(std::uint32_t lane, std::uint32_t position) {
    return kept[std::size_t{lane} * kKept + position % kKept];
  }

  void drain() {
    for (std::size_t lane = 0; lane < count.size(); ++lane)
      drained[lane] = count[lane];
    for (std::size_t lane = 0; lane < count.size(); ++lane)
      if (count[lane] != 0)
        clock(static_cast<std::uint32_t>(lane), count[lane]) = drained;
  }

  void learn(Clock &fresh, std::uint32_t lane, std::uint32_t distance) {
    if (distance > count[lane])
      return;
    const std::uint32_t position = count[lane] - distance + 1;
    if (fresh[lane] >= position)
      return; // and so all that it knew
    const Clock &other = clock(lane, position);
    for (std::size_t component = 0; component < kWidth; ++component)
      fresh[component] = std::max(fresh[component], other[component]);
  }

  std::unique_ptr<Clock[]> kept; // the latest clocks of each lane, after the action
  std::vector<std::uint32_t> count;
  std::span<const std::uint32_t> quiet, drainedAt;
  Clock drained{};           // what was dispatched when all lanes were drained last
  std::uint32_t started = 0; // entry of the latest action
};

/// Calls `visit` with a width of clocks that holds all lanes of the rank.
template <typename Visit> void withClockWidth(const RankView &rank, Visit &&visit) {
  const std::size_t lanes = rank.program->lanes.size();
  if (lanes <= 16)
    visit(std::integral_constant<std::size_t, 16>());
  else if (lanes <= 32)
    visit(std::integral_constant<std::size_t, 32>());
  else
    visit(std::integral_constant<std::size_t, plan::Wait::kMaxLanes>());
}

/// Calls `visit(entry)` in dispatch order, of each loop two iterations.
template <typename Visit> void forEachDispatched(const RankView &rank, Visit &&visit) {
  for (const Segment &body : rank.segments)
    for (std::uint32_t iteration = 0; iteration < std::min<std::uint64_t>(body.trips, 2);
         ++iteration)
      for (std::uint32_t entry = body.first; entry < body.end; ++entry)
        visit(entry);
}

/// The entry at a position of `Knowing`.
std::uint32_t entryAt(const ActionTable &table, const RankView &rank, std::uint32_t lane,
                      std::uint32_t position);

} // namespace vime::verify
