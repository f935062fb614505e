#include "tests/Interpreter/Clocks.h"

#include <algorithm>

namespace vime::interpreter {
namespace {

void join(Clock &clock, const Clock &other) {
  for (std::size_t lane = 0; lane < clock.size(); ++lane)
    clock[lane] = std::max(clock[lane], other[lane]);
}

} // namespace

LaneClocks::LaneClocks(const plan::Program &program)
    : program(program), finished(program.lanes.size()), drained(program.lanes.size(), 0),
      seen(drained), seenBefore(drained) {}

Stamp LaneClocks::dispatch(const plan::Action &action) {
  std::vector<Clock> &lane = finished[action.lane];
  Stamp stamp{{action.lane, static_cast<std::uint32_t>(lane.size() + 1)}, drained, {}};
  if (!lane.empty())
    join(stamp.known, lane.back());
  for (std::size_t index = 0; index < action.waits.size(); ++index) {
    const plan::Wait wait = action.waits[index];
    const std::vector<Clock> &other = finished[static_cast<std::size_t>(wait.lane())];
    const auto distance = static_cast<std::size_t>(wait.distance());
    if (wait.empty() || distance > other.size())
      continue; // reaches back to before the first action
    const std::size_t position = other.size() - distance + 1;
    stamp.waits[index] = {static_cast<std::uint32_t>(wait.lane()),
                          static_cast<std::uint32_t>(position)};
    join(stamp.known, other[position - 1]);
  }
  join(seen, stamp.known);
  seenBefore = seen;
  Clock end = stamp.known;
  end[action.lane] = stamp.own.position;
  if (plan::runsOnDispatcher(program.lanes[action.lane].kind) ||
      (action.flags & plan::kHostBlocking) != 0)
    join(seen, end);
  lane.push_back(std::move(end));
  return stamp;
}

void LaneClocks::drain() {
  for (std::size_t lane = 0; lane < finished.size(); ++lane)
    drained[lane] = static_cast<std::uint32_t>(finished[lane].size());
  seen = drained;
}

std::optional<Position> Races::use(const Stamp &stamp, const Place &place, bool writes) {
  std::optional<Position> race;
  const auto meet = [&](const Position &other) {
    if (other.position != 0 && !stamp.knows(other) &&
        (other.lane != stamp.own.lane || other.position != stamp.own.position))
      race = other;
  };
  arenas[static_cast<std::size_t>(place.tier)].forEach(
      place.begin, place.begin + place.bytes, [&](std::uint64_t, Uses &uses) {
        meet(uses.writer);
        if (writes) {
          for (const Position &reader : uses.readers)
            meet(reader);
          uses.readers.clear();
          uses.writer = stamp.own;
          return;
        }
        for (Position &reader : uses.readers)
          if (reader.lane == stamp.own.lane) {
            reader = stamp.own;
            return;
          }
        uses.readers.push_back(stamp.own);
      });
  return race;
}

} // namespace vime::interpreter
