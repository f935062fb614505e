#include "runtime/Plan/Mesh.h"

#include <algorithm>
#include <array>

namespace vime::plan {
namespace {

struct Digit {
  Axis axis;
  std::uint32_t size;
};

/// rank = ((data * context + c) * tensor + t) * pipeline + pp: the least digit first.
std::array<Digit, 4> digitsOf(const Mesh &mesh) {
  return {Digit{Axis::Pipeline, mesh.pipeline},
          {Axis::Tensor, mesh.tensor},
          {Axis::Context, mesh.context},
          {Axis::Data, mesh.data}};
}

bool has(std::uint8_t axes, Axis axis) { return (axes & bitOf(axis)) != 0; }

bool areMirrored(std::uint8_t axes) { return axes == bitOf(Axis::Mirror); }

std::uint32_t mirrored(const Mesh &mesh, std::uint32_t rank) {
  const std::uint32_t coordinate = rank % mesh.pipeline;
  return rank - coordinate + mesh.pipeline - 1 - coordinate;
}

/// The number, or the odd one below it.
constexpr std::uint32_t oddOf(std::uint32_t number) { return number - (number % 2 == 0 ? 1 : 0); }

/// Whom one of so many replicas meets in a turn; itself: nobody. As players of a tournament do: of
/// an odd number those two whose sum is the turn, modulo the number. Of an even one the last
/// meets whoever is left.
std::uint32_t meets(std::uint32_t replicas, std::uint32_t turn, std::uint32_t replica) {
  const std::uint64_t odd = oddOf(replicas), last = replicas - 1;
  if (replicas % 2 == 0 && replica == last)
    return static_cast<std::uint32_t>(turn * (replicas / std::uint64_t{2}) % odd); // half of it
  const auto other = static_cast<std::uint32_t>((turn + odd - replica) % odd);
  return other == replica && replicas % 2 == 0 ? static_cast<std::uint32_t>(last) : other;
}

} // namespace

std::uint32_t representatives(const Mesh &mesh) {
  return mesh.pipeline * std::min(mesh.data, 2u) + mesh.engines;
}

std::uint32_t representativeOf(const Mesh &mesh, std::uint32_t rank) {
  if (mesh.isEngine(rank))
    return rank;
  const std::uint32_t coordinate = rank % mesh.pipeline;
  return mesh.data < 2 || rank < mesh.pipeline ? coordinate : mesh.pipeline + coordinate;
}

std::uint32_t replicaOf(const Mesh &mesh, std::uint32_t rank) {
  return rank / (mesh.pipeline * mesh.tensor * mesh.context);
}

std::uint32_t memberCount(const Mesh &mesh, std::uint8_t axes) {
  if (areMirrored(axes))
    return 2;
  std::uint32_t count = 1;
  for (const Digit &digit : digitsOf(mesh))
    count *= has(axes, digit.axis) ? digit.size : 1;
  return count;
}

std::uint32_t memberIndex(const Mesh &mesh, std::uint32_t rank, std::uint8_t axes) {
  if (areMirrored(axes))
    return rank < mirrored(mesh, rank) ? 0 : 1;
  std::uint32_t index = 0, weight = 1;
  for (const Digit &digit : digitsOf(mesh)) {
    if (has(axes, digit.axis)) {
      index += rank % digit.size * weight;
      weight *= digit.size;
    }
    rank /= digit.size;
  }
  return index;
}

std::uint32_t memberRank(const Mesh &mesh, std::uint32_t rank, std::uint8_t axes,
                         std::uint32_t index) {
  if (areMirrored(axes))
    return memberIndex(mesh, rank, axes) == index ? rank : mirrored(mesh, rank);
  std::uint32_t member = 0, weight = 1;
  for (const Digit &digit : digitsOf(mesh)) {
    const bool varies = has(axes, digit.axis);
    member += (varies ? index : rank) % digit.size * weight;
    weight *= digit.size;
    rank /= digit.size;
    index /= varies ? digit.size : 1;
  }
  return member;
}

std::uint32_t memberCount(const Mesh &mesh, const Group &group) {
  return group.members.empty() ? memberCount(mesh, group.axes)
                               : static_cast<std::uint32_t>(group.members.size());
}

std::uint32_t memberIndex(const Mesh &mesh, std::uint32_t rank, const Group &group) {
  if (group.members.empty())
    return memberIndex(mesh, rank, group.axes);
  const auto found = std::lower_bound(group.members.begin(), group.members.end(), rank);
  return static_cast<std::uint32_t>(found - group.members.begin());
}

std::uint32_t memberRank(const Mesh &mesh, std::uint32_t rank, const Group &group,
                         std::uint32_t index) {
  return group.members.empty() ? memberRank(mesh, rank, group.axes, index) : group.members[index];
}

bool talk(Collective operation, std::uint32_t root, std::uint32_t one, std::uint32_t other) {
  switch (operation) {
  case Collective::Broadcast:
  case Collective::BroadcastWeights:
  case Collective::Gather:
    return one == root || other == root;
  case Collective::AllGather:
  case Collective::Unshard:
  case Collective::ReduceScatter:
    return true;
  case Collective::AllReduce:
  case Collective::ReduceSquares:
    return one + 1 == other || other + 1 == one;
  }
  return false;
}

std::uint32_t turnsOf(const Mesh &mesh, const ConnectRound &round) {
  return round.allReplicas ? oddOf(mesh.data) : 1;
}

std::optional<std::uint32_t> peerIn(const Mesh &mesh, const ConnectRound &round, std::uint32_t turn,
                                    std::uint32_t rank) {
  if (mesh.isEngine(rank) && (round.allReplicas || round.inEveryReplica))
    return std::nullopt;
  if (round.allReplicas) {
    const std::uint32_t replica = replicaOf(mesh, rank), other = meets(mesh.data, turn, replica);
    if (other == replica)
      return std::nullopt;
    return other * mesh.pipeline + rank % mesh.pipeline;
  }
  const std::uint32_t own = round.inEveryReplica ? rank % mesh.pipeline : rank;
  for (const auto &[low, high] : round.pairs)
    if (low == own || high == own)
      return (low == own ? high : low) + (rank - own);
  return std::nullopt;
}

} // namespace vime::plan
