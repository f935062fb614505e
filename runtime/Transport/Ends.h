// Ends: the channel and group lanes of a rank's program, with peers and members as rank numbers.
//
//   StatusOr<RankEnds> ends = endsOf(plan, 2);
//   ends->ends[endOfLane(program, lane)]
//
// A program says `pp + 1`; only here, at load, does it become a rank.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "runtime/Transport/Transport.h"

namespace vime {

/// Ends of a rank, in the order of its Send, Receive and Group lanes. `Unacceptable` when a peer or
/// member is none.
StatusOr<RankEnds> endsOf(const plan::Plan &plan, std::uint32_t rank);

/// `Unacceptable` when the rank would have more open than a plan may ask for (plan::Caps.h). Every
/// backend asks before it connects.
Status checkCaps(const RankEnds &ends);

/// For each lane of a program its end, or kNoEnd.
constexpr std::uint32_t kNoEnd = 0xFFFFFFFFu;
std::vector<std::uint32_t> endsOfLanes(const plan::Program &program);

/// Names a channel or group alike at all of its ends, and orders all of them alike on every rank.
using StreamKey = std::tuple<plan::LaneKind, std::uint32_t, std::uint32_t, std::uint32_t>;
StreamKey streamKeyOf(const End &end, std::uint32_t rank);

/// Index of `rank` among the parties of an end: sender 0, receiver 1; in a group the member index.
std::uint32_t partyOf(const End &end, std::uint32_t rank);

/// The members of the group that `rank` is in, ascending.
std::vector<std::uint32_t> membersOf(const plan::Mesh &mesh, std::uint32_t rank,
                                     const plan::Group &group);

/// The ranks that this one exchanges anything with directly, ascending.
std::vector<std::uint32_t> peersOf(const RankEnds &ends);

/// The same in the order of the plan's connect rounds, then those that the rounds leave out: also
/// an order of pairs that is the same on all ranks.
std::vector<std::uint32_t> peersInConnectOrder(const plan::Plan &plan, const RankEnds &ends);

} // namespace vime
