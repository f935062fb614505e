// Mesh: who stands where among the ranks, and which ranks stand for all others.
//
//   memberIndex(mesh, rank, group)        // its place in the group
//   memberRank(mesh, rank, group, 0)      // rank of the group's first member
//   for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) …
//
// All replicas but the leading one have the same programs and layouts. So the leading one and the
// next stand for all: their ranks are the first ones, and a place in `Plan::programOf` is such a
// rank. Engines, behind at most two replicas, stand for themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// The ranks [0, representatives) stand for all.
std::uint32_t representatives(const Mesh &mesh);
/// The one that stands for `rank`: its place in programOf and layoutOf.
std::uint32_t representativeOf(const Mesh &mesh, std::uint32_t rank);

/// 0: the leading one. Of a rank that trains.
std::uint32_t replicaOf(const Mesh &mesh, std::uint32_t rank);

constexpr std::uint8_t bitOf(Axis axis) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(axis));
}

/// Ranks that differ from one another only along `axes` (a bit per Axis), in ascending order. Along
/// `Mirror`, which stands alone and takes an even number of ranks in a replica, they are two.
std::uint32_t memberCount(const Mesh &mesh, std::uint8_t axes);
std::uint32_t memberIndex(const Mesh &mesh, std::uint32_t rank, std::uint8_t axes);
std::uint32_t memberRank(const Mesh &mesh, std::uint32_t rank, std::uint8_t axes,
                         std::uint32_t index);

/// The same of a group, whose members may be listed. Of a listed one the rank is a member.
std::uint32_t memberCount(const Mesh &mesh, const Group &group);
std::uint32_t memberIndex(const Mesh &mesh, std::uint32_t rank, const Group &group);
std::uint32_t memberRank(const Mesh &mesh, std::uint32_t rank, const Group &group,
                         std::uint32_t index);

/// Whether two members of a group exchange messages with each other.
bool talk(Collective operation, std::uint32_t root, std::uint32_t one, std::uint32_t other);

/// One, or as many as it takes for every two replicas to meet once.
std::uint32_t turnsOf(const Mesh &mesh, const ConnectRound &round);
/// Whom the rank connects to in a turn of a round, if it does.
std::optional<std::uint32_t> peerIn(const Mesh &mesh, const ConnectRound &round, std::uint32_t turn,
                                    std::uint32_t rank);

/// Where the counters of a replica's ranks are gathered: where there is only one, they are all.
constexpr BufferKind replicaStats(const Mesh &mesh) {
  return mesh.data > 1 ? BufferKind::ReplicaStats : BufferKind::AllStats;
}

} // namespace vime::plan
