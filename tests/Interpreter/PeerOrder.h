// PeerOrder: which uses are ordered through other ranks: what was received was sent before, so it
// is behind all that the sender was behind, and behind the send's own read. This holds on every
// transport, though no rank can see it in its own program.
//
//   peerOrder.fire({…});     // nodes as they fire
//   peerOrder.races()        // two uses without even that order
#pragma once

#include <cstdint>
#include <vector>

#include "tests/Interpreter/Clocks.h"
#include "tests/Interpreter/Meetings.h"
#include "tests/Interpreter/Uses.h"

namespace vime::interpreter {

class PeerOrder {
public:
  explicit PeerOrder(const plan::Plan &plan);

  /// One end of a node: whether it gives what others take, and whether it takes.
  struct End {
    Seat seat;
    const Stamp &stamp;
    const std::vector<Use> &uses;
    bool gives = false, takes = false;
  };
  void fire(const std::vector<End> &ends);
  bool races() const { return found; }

private:
  Clock startOf(const End &end) const;

  std::vector<std::uint32_t> firstLane;     // of each rank, among all
  std::vector<std::vector<Clock>> finished; // of each lane of all
  std::vector<Races> uses;                  // of each rank
  bool found = false;
};

} // namespace vime::interpreter
