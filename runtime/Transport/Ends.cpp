#include "runtime/Transport/Ends.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

bool isTransfer(plan::LaneKind kind) {
  return kind == plan::LaneKind::Send || kind == plan::LaneKind::Receive ||
         kind == plan::LaneKind::Group;
}

StatusOr<End> groupEnd(const plan::Plan &plan, std::uint32_t rank, std::uint32_t index) {
  const plan::Group &group = plan.groups[index];
  End end{.kind = plan::LaneKind::Group,
          .flow = group.flow,
          .group = index,
          .operation = group.operation};
  end.members = membersOf(plan.mesh, rank, group);
  end.root = group.root;
  end.name = group.name;
  if (group.root >= end.members.size())
    return Status(StatusCode::Unacceptable,
                  fmt::format("group `{}` has {} members and root {}", group.name,
                              end.members.size(), group.root));
  return end;
}

StatusOr<End> channelEnd(const plan::Plan &plan, std::uint32_t rank, const plan::Lane &lane) {
  const std::uint32_t peer = plan::resolvePeer(plan.mesh, rank, lane.peer);
  if (peer >= plan.mesh.ranks() || peer == rank)
    return Status(StatusCode::Unacceptable,
                  fmt::format("rank {} has a channel to rank {}", rank, peer));
  return End{.kind = lane.kind, .flow = lane.flow, .peer = peer};
}

void addOnce(std::vector<std::uint32_t> &list, std::uint32_t rank) {
  if (std::find(list.begin(), list.end(), rank) == list.end())
    list.push_back(rank);
}

} // namespace

std::vector<std::uint32_t> membersOf(const plan::Mesh &mesh, std::uint32_t rank,
                                     const plan::Group &group) {
  std::vector<std::uint32_t> members(plan::memberCount(mesh, group));
  for (std::uint32_t index = 0; index < members.size(); ++index)
    members[index] = plan::memberRank(mesh, rank, group, index);
  return members;
}

StatusOr<RankEnds> endsOf(const plan::Plan &plan, std::uint32_t rank) {
  RankEnds result{.rank = rank, .ranks = plan.mesh.ranks()};
  for (const plan::Lane &lane : plan::programOf(plan, rank)->lanes) {
    if (!isTransfer(lane.kind))
      continue;
    if (lane.kind == plan::LaneKind::Group && lane.group >= plan.groups.size())
      return Status(StatusCode::Unacceptable, fmt::format("rank {} names group {} of {}", rank,
                                                          lane.group, plan.groups.size()));
    StatusOr<End> end = lane.kind == plan::LaneKind::Group ? groupEnd(plan, rank, lane.group)
                                                           : channelEnd(plan, rank, lane);
    if (!end.ok())
      return end.status();
    result.ends.push_back(std::move(*end));
  }
  return result;
}

Status checkCaps(const RankEnds &ends) {
  const auto groups = std::count_if(ends.ends.begin(), ends.ends.end(), [](const End &end) {
    return end.kind == plan::LaneKind::Group;
  });
  if (groups <= plan::kMostOpenGroups)
    return Status();
  return Status(StatusCode::Unacceptable,
                fmt::format("rank {} takes part in {} groups, a transport opens {} at most",
                            ends.rank, groups, plan::kMostOpenGroups));
}

std::vector<std::uint32_t> endsOfLanes(const plan::Program &program) {
  std::vector<std::uint32_t> ends;
  std::uint32_t next = 0;
  for (const plan::Lane &lane : program.lanes)
    ends.push_back(isTransfer(lane.kind) ? next++ : kNoEnd);
  return ends;
}

StreamKey streamKeyOf(const End &end, std::uint32_t rank) {
  if (end.kind == plan::LaneKind::Group)
    return {end.kind, end.group, end.members.front(), 0};
  const bool sends = end.kind == plan::LaneKind::Send;
  return {plan::LaneKind::Send, sends ? rank : end.peer, sends ? end.peer : rank,
          std::uint32_t(end.flow)};
}

std::uint32_t partyOf(const End &end, std::uint32_t rank) {
  if (end.kind == plan::LaneKind::Send)
    return 0;
  if (end.kind == plan::LaneKind::Receive)
    return 1;
  const auto member = std::find(end.members.begin(), end.members.end(), rank);
  return static_cast<std::uint32_t>(member - end.members.begin());
}

std::vector<std::uint32_t> peersOf(const RankEnds &ends) {
  std::vector<std::uint32_t> peers;
  for (const End &end : ends.ends) {
    if (end.kind != plan::LaneKind::Group)
      addOnce(peers, end.peer);
    const std::uint32_t own = partyOf(end, ends.rank);
    for (std::uint32_t member = 0; member < end.members.size(); ++member)
      if (member != own && plan::talk(end.operation, end.root, own, member))
        addOnce(peers, end.members[member]);
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

std::vector<std::uint32_t> peersInConnectOrder(const plan::Plan &plan, const RankEnds &ends) {
  std::vector<std::uint32_t> order;
  for (const plan::ConnectRound &round : plan.connect)
    for (std::uint32_t turn = 0; turn < plan::turnsOf(plan.mesh, round); ++turn)
      if (const auto peer = plan::peerIn(plan.mesh, round, turn, ends.rank))
        addOnce(order, *peer);
  for (const std::uint32_t peer : peersOf(ends))
    addOnce(order, peer);
  return order;
}

} // namespace vime
