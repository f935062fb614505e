// TransferComparison: what slots for received messages are worth to every order, at equal work.
#pragma once

#include "schedules/Comparison.h"

#include <array>
#include <optional>
#include <vector>

namespace vime {

inline constexpr int kComparedSlots = 4;

/// Makespans, in the unit of the costs of a rank's whole share; nothing: no rank gets to its end.
struct ComparedTransfers {
  const Order *order;
  int chunks = 1;
  double dataflow = 0; // transfers hold nobody
  /// With 1, 2, … slots on every channel.
  std::array<std::optional<double>, kComparedSlots> withSlots{};
  int chosen = 0; // slots that a plan gets if nobody states them
  int held = 0;   // places for received messages on the rank that has most (mostHeld)
  /// PyTorch's two placements, over one queue for each pair of ranks; no time: no rank gets to its
  /// end. Nothing for orders that PyTorch has no word for.
  struct Placed {
    std::optional<double> time;
    int held;
  };
  std::optional<Placed> early, deferred;
  /// On the rank that has most: buffers that PyTorch has for received messages all the time, one
  /// for each of a step.
  int buffers = 0;
};

/// Of the orders that can be built, the fastest with two slots first.
std::vector<ComparedTransfers> compareTransfers(const ComparedShape &shape);

} // namespace vime
