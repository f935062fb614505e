#include "runtime/Transport/Ends.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"

namespace vime {
namespace {

bool isTransfer(plan::LaneKind kind) {
  return kind == plan::LaneKind::Send || kind == plan::LaneKind::Receive ||
         kind == plan::LaneKind::Group;
}

/// Coordinates of a rank, by plan::Axis. rank = ((data * context + c) * tensor + t) * pipeline +
/// pp.
std::array<std::uint32_t, 4> coordinatesOf(const plan::Mesh &mesh, std::uint32_t rank) {
  const std::uint32_t pp = rank % mesh.pipeline, rest = rank / mesh.pipeline;
  const std::uint32_t tp = rest % mesh.tensor, outer = rest / mesh.tensor;
  return {pp, outer / mesh.context, outer % mesh.context, tp};
}

StatusOr<End> groupEnd(const plan::Plan &plan, std::uint32_t rank, std::uint32_t index) {
  const plan::Group &group = plan.groups[index];
  End end{.kind = plan::LaneKind::Group,
          .flow = group.flow,
          .group = index,
          .operation = group.operation};
  end.members = membersAlong(plan.mesh, rank, group.axes);
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

std::vector<std::uint32_t> membersAlong(const plan::Mesh &mesh, std::uint32_t rank,
                                        std::uint8_t axes) {
  const auto here = coordinatesOf(mesh, rank);
  std::vector<std::uint32_t> members;
  for (std::uint32_t other = 0; other < mesh.ranks(); ++other) {
    const auto there = coordinatesOf(mesh, other);
    bool together = true;
    for (std::size_t axis = 0; axis < here.size(); ++axis)
      together = together && (here[axis] == there[axis] || (axes >> axis & 1) != 0);
    if (together)
      members.push_back(other);
  }
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

std::vector<std::uint32_t> peersInConnectOrder(const plan::Plan &plan, const RankEnds &ends) {
  std::vector<std::uint32_t> needed;
  for (const End &end : ends.ends) {
    if (end.kind != plan::LaneKind::Group)
      addOnce(needed, end.peer);
    const bool everybody = end.operation == plan::Collective::AllGather;
    for (std::uint32_t member = 0; member < end.members.size(); ++member) {
      const bool direct = everybody || member == end.root || end.members[end.root] == ends.rank;
      if (direct && end.members[member] != ends.rank)
        addOnce(needed, end.members[member]);
    }
  }
  std::sort(needed.begin(), needed.end());
  std::vector<std::uint32_t> order;
  for (const plan::ConnectRound &round : plan.connect)
    for (const auto &[low, high] : round.pairs)
      if (low == ends.rank || high == ends.rank)
        addOnce(order, low == ends.rank ? high : low);
  for (const std::uint32_t peer : needed)
    addOnce(order, peer);
  return order;
}

} // namespace vime
