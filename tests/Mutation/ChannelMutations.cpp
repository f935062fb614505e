// Channels and groups: what their messages are, and between whom.
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool reshapeMessage(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  if (mutant.below(4) == 0)
    lane.message.type =
        lane.message.type == DataType::Float32 ? DataType::BFloat16 : DataType::Float32;
  else {
    std::uint32_t &bytes = lane.message.perToken != 0 ? lane.message.perToken : lane.message.fixed;
    bytes = mutant.coin() ? bytes / 2 : bytes + 8;
  }
  return true;
}

/// At both ends.
bool reshapeChannel(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.lanes.size());
  const Lane wanted = mutant.program.lanes[index];
  if (wanted.kind != LaneKind::Send && wanted.kind != LaneKind::Receive)
    return false;
  const std::uint32_t part = mutant.below(3);
  for (Program &program : mutant.plan.programs)
    for (Lane &lane : program.lanes)
      if ((lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive) &&
          lane.flow == wanted.flow) {
        std::uint32_t &bytes =
            lane.message.perToken != 0 ? lane.message.perToken : lane.message.fixed;
        if (part == 0)
          bytes /= 2;
        else if (part == 1)
          std::swap(lane.message.perToken, lane.message.fixed);
        else
          bytes += 8;
      }
  return true;
}

bool changePeer(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  if (mutant.coin())
    lane.peer.value =
        static_cast<int>(mutant.below(mutant.plan.mesh.pipeline)) - (mutant.coin() ? 1 : 0);
  else
    lane.flow = static_cast<Flow>(mutant.below(6));
  return true;
}

bool changeSlots(Mutant &mutant) {
  Lane &lane = mutant.program.lanes[mutant.below(mutant.program.lanes.size())];
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return false;
  lane.slots = mutant.coin() ? lane.slots + 1 : lane.slots - 1;
  return true;
}

bool changeGroup(Mutant &mutant) {
  Group &group = mutant.plan.groups[mutant.below(mutant.plan.groups.size())];
  const std::uint32_t part = mutant.below(4);
  mutant.what += " group " + group.name + ", part " + std::to_string(part);
  switch (part) {
  case 0:
    group.root = mutant.below(mutant.plan.mesh.ranks());
    break;
  case 1:
    group.axes = static_cast<std::uint8_t>(mutant.below(16));
    break;
  case 2:
    group.operation = static_cast<Collective>(mutant.below(7));
    break;
  default:
    group.message.fixed = mutant.coin() ? group.message.fixed / 2 : group.message.fixed + 8;
  }
  return true;
}

bool disconnect(Mutant &mutant) {
  auto &rounds = mutant.plan.connect;
  if (rounds.empty())
    return false;
  const std::uint32_t index = mutant.below(rounds.size());
  if (rounds[index].allReplicas) {
    if (mutant.coin())
      rounds.erase(rounds.begin() + index);
    else
      rounds.push_back({.inEveryReplica = false, .allReplicas = true, .pairs = {}});
    return true;
  }
  auto &pairs = rounds[index].pairs;
  if (pairs.empty())
    return false;
  if (mutant.coin())
    pairs.erase(pairs.begin() + mutant.below(pairs.size()));
  else
    rounds.push_back(
        {.inEveryReplica = rounds[0].inEveryReplica, .pairs = {pairs[mutant.below(pairs.size())]}});
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"reshape one end", reshapeMessage},
    PlanMutation{"reshape a flow", reshapeChannel},
    PlanMutation{"another peer or flow", changePeer},
    PlanMutation{"another number of slots", changeSlots},
    PlanMutation{"change a group", changeGroup},
    PlanMutation{"disconnect or connect twice", disconnect},
};

} // namespace

std::span<const PlanMutation> channelMutations() { return kMutations; }

} // namespace vime
