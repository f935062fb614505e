// Clocks: vector clocks of one rank with a component for each lane, and the races they show.
//
//   LaneClocks clocks(lanes);
//   const Stamp stamp = clocks.dispatch(action);      // what it knows when it starts
//   stamp.knows(lane, position)                       // whether that one has finished by then
//
// An action starts behind the one before it on its lane and behind what it waits for. Nothing else
// orders two lanes; only a drained edge ends all of them. Clocks are made in dispatch order, which
// every such edge follows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "tests/Interpreter/Intervals.h"
#include "tests/Interpreter/Memory.h"

namespace vime::interpreter {

using Clock = std::vector<std::uint32_t>; // of each lane, the last position known to be finished

/// An action on its lane, counted from 1; 0 is none.
struct Position {
  std::uint32_t lane = 0, position = 0;
};

struct Stamp {
  Position own;
  Clock known;                     // when it starts
  std::array<Position, 4> waits{}; // what it waits for by name
  bool knows(const Position &other) const { return known[other.lane] >= other.position; }
};

class LaneClocks {
public:
  explicit LaneClocks(const plan::Program &program);

  Stamp dispatch(const plan::Action &action);
  /// All that was dispatched is finished.
  void drain();
  /// What the dispatcher has seen the end of: what it waited for, and what it ran itself.
  const Clock &dispatcher() const { return seen; }
  /// The same in front of the latest action, with what that one waits for.
  const Clock &beforeLatest() const { return seenBefore; }

private:
  const plan::Program &program;
  std::vector<std::vector<Clock>> finished; // of each lane, by position
  Clock drained, seen, seenBefore;
};

/// The uses of a rank's bytes, in dispatch order: the only order that they can have.
class Races {
public:
  explicit Races(const plan::Layout &layout)
      : arenas{Intervals<Uses>(layout.arena[0]), Intervals<Uses>(layout.arena[1])} {}

  /// The earlier use that this one is not ordered behind, if there is one.
  std::optional<Position> use(const Stamp &stamp, const Place &place, bool writes);

private:
  struct Uses {
    Position writer;
    std::vector<Position> readers; // since then, the latest of each lane
    Uses startingAt(std::uint64_t) const { return *this; }
  };
  std::array<Intervals<Uses>, 2> arenas;
};

} // namespace vime::interpreter
