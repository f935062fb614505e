// Connect rounds: in which order the ranks of a plan meet, before step 1.
#pragma once

#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// Rounds of disjoint pairs that cover every pair of ranks which exchanges anything: the two ends
/// of a channel, and the members of a group that talk to each other. Pairs inside a replica are
/// stated once for all replicas; pairs along `dp` follow, or, where every two
/// replicas have to meet, one round that says so.
std::vector<plan::ConnectRound> connectRounds(const plan::Plan &plan);

} // namespace vime
