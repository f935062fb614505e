// TransferComparison: what slots for received messages are worth to every order, at equal work.
#pragma once

#include "schedules/Comparison.h"

#include <array>
#include <optional>
#include <vector>

namespace vime {

inline constexpr int kComparedSlots = 4;

/// Makespans, in the unit of the costs of a rank's whole share.
struct ComparedTransfers {
  const Order *order;
  int chunks = 1;
  double dataflow = 0; // transfers hold nobody
  /// With 1, 2, … slots on every channel; nothing where so few cannot hold what the order needs.
  std::array<std::optional<double>, kComparedSlots> withSlots{};
  double late = 0;  // receives just before their tasks
  int channels = 0; // into the rank that has most of them: a slot more costs it so many messages
  int enough = 0;   // the fewest slots within 1 % of the best
};

/// Of the orders that can be built, the fastest with two slots first.
std::vector<ComparedTransfers> compareTransfers(const ComparedShape &shape);

} // namespace vime
