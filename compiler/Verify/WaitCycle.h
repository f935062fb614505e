// WaitCycle: whether all ranks finish when each runs its actions one after the other and transfers
// meet (strict rendezvous), and if not, who waits for whom.
//
// The graph has one node for each local action, for each pair of send and receive and for each call
// of a group; its edges are each rank's dispatch successors. Waits reach back in dispatch order, so
// they add nothing. This is Kahn's algorithm on it: a rank advances while its next action is ready.
// Times play no part, which makes it a second way to C2.
#pragma once

#include <vector>

#include "compiler/Verify/ActionTable.h"

namespace vime::verify {

/// A rank that cannot go on: `blocked` needs `needed` on another rank, which stands behind that
/// rank's own blocked action.
struct Standstill {
  std::uint32_t rank, blocked;
  std::uint32_t neededRank, needed;
};

/// Empty if all finish; else a cycle, each one needing the next and the last one the first. All
/// channels and groups must be matched.
std::vector<Standstill> findWaitCycle(const ActionTable &table);

} // namespace vime::verify
