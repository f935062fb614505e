// Meetings: who meets whom. The k-th send and the k-th receive of a channel are one node, and so
// are the k-th calls of all members of a group; lanes are in order, so the heads of the lanes meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::interpreter {

/// A lane of a rank.
struct Seat {
  std::uint32_t rank = 0, lane = 0;
  bool operator==(const Seat &) const = default;
};

class Meetings {
public:
  explicit Meetings(const plan::Plan &plan);

  /// All that must be there, ascending by rank (of a channel the sender first); itself alone for a
  /// lane of the rank's own; empty if one of them has no such lane.
  const std::vector<Seat> &of(const Seat &seat) const { return seats[seat.rank][seat.lane]; }
  /// What is wrong between the ranks before anything runs: ends that state different messages,
  /// ranks that talk and are not connected, or twice.
  const std::string &fault() const { return trouble; }

private:
  std::vector<Seat> meet(const Seat &seat) const;
  void judgeEnds(const Seat &seat);
  void judgeConnections();

  const plan::Plan &plan;
  std::vector<std::vector<std::vector<Seat>>> seats;
  std::string trouble;
};

} // namespace vime::interpreter
