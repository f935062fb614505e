#include "tests/Interpreter/Meetings.h"

#include <algorithm>
#include <map>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::interpreter {

using namespace plan;

namespace {

const Lane &laneOf(const Plan &plan, const Seat &seat) {
  return programOf(plan, seat.rank)->lanes[seat.lane];
}

bool isUsed(const Plan &plan, const Seat &seat) {
  const std::vector<Action> &actions = programOf(plan, seat.rank)->actions;
  return std::any_of(actions.begin(), actions.end(),
                     [&](const Action &action) { return action.lane == seat.lane; });
}

} // namespace

Meetings::Meetings(const Plan &plan) : plan(plan), seats(plan.mesh.ranks()) {
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    for (std::uint32_t lane = 0; lane < programOf(plan, rank)->lanes.size(); ++lane)
      seats[rank].push_back(meet({rank, lane}));
  for (std::uint32_t rank = 0; rank < seats.size(); ++rank)
    for (std::uint32_t lane = 0; lane < seats[rank].size(); ++lane)
      if (laneOf(plan, {rank, lane}).kind == LaneKind::Send)
        judgeEnds({rank, lane});
  judgeConnections();
}

std::vector<Seat> Meetings::meet(const Seat &seat) const {
  const Lane &lane = laneOf(plan, seat);
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive && lane.kind != LaneKind::Group)
    return {seat};
  std::vector<Seat> all;
  const auto find = [&](std::uint32_t rank, auto &&fits) {
    const std::vector<Lane> &lanes = programOf(plan, rank)->lanes;
    for (std::uint32_t index = 0; index < lanes.size(); ++index)
      if (fits(lanes[index]))
        all.push_back({rank, index});
  };
  if (lane.kind == LaneKind::Group) {
    const Group &group = plan.groups[lane.group];
    const std::uint32_t members = memberCount(plan.mesh, group);
    for (std::uint32_t member = 0; member < members; ++member)
      find(memberRank(plan.mesh, seat.rank, group, member), [&](const Lane &other) {
        return other.kind == LaneKind::Group && other.group == lane.group;
      });
    return all.size() == members ? all : std::vector<Seat>();
  }
  const bool sends = lane.kind == LaneKind::Send;
  const std::uint32_t peer = resolvePeer(plan.mesh, seat.rank, lane.peer);
  find(peer, [&](const Lane &other) {
    return other.kind == (sends ? LaneKind::Receive : LaneKind::Send) && other.flow == lane.flow &&
           resolvePeer(plan.mesh, peer, other.peer) == seat.rank;
  });
  if (all.size() != 1)
    return {};
  all.insert(sends ? all.begin() : all.end(), seat);
  return all;
}

void Meetings::judgeEnds(const Seat &seat) {
  const std::vector<Seat> &ends = of(seat);
  if (ends.empty() || !isUsed(plan, seat))
    return;
  const Lane &send = laneOf(plan, ends[0]), &receive = laneOf(plan, ends[1]);
  if (send.message != receive.message || send.slots != receive.slots)
    trouble = describeLane(plan, seat.rank, seat.lane) + " is stated differently at its ends";
  if (send.message.fixed == 0 && send.message.perToken == 0)
    trouble = describeLane(plan, seat.rank, seat.lane) + " has messages without bytes";
}

void Meetings::judgeConnections() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> connected;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    for (const ConnectRound &round : plan.connect)
      for (std::uint32_t turn = 0; turn < turnsOf(plan.mesh, round); ++turn)
        if (const auto peer = peerIn(plan.mesh, round, turn, rank); peer && rank < *peer)
          ++connected[{rank, *peer}];
  for (const auto &[pair, times] : connected)
    if (times > 1)
      trouble = "two ranks are connected twice";
  const auto need = [&](std::uint32_t one, std::uint32_t other) {
    if (one != other && connected.find(std::minmax(one, other)) == connected.end())
      trouble = "rank " + std::to_string(one) + " talks to rank " + std::to_string(other) +
                " and is not connected to it";
  };
  for (std::uint32_t rank = 0; rank < seats.size(); ++rank)
    for (std::uint32_t lane = 0; lane < seats[rank].size(); ++lane) {
      const std::vector<Seat> &here = seats[rank][lane];
      const Lane &fields = laneOf(plan, {rank, lane});
      if (!isUsed(plan, {rank, lane}))
        continue;
      for (std::size_t one = 0; one < here.size(); ++one)
        for (std::size_t other = one + 1; other < here.size(); ++other)
          if (fields.kind != LaneKind::Group ||
              talk(plan.groups[fields.group].operation, plan.groups[fields.group].root,
                   static_cast<std::uint32_t>(one), static_cast<std::uint32_t>(other)))
            need(here[one].rank, here[other].rank);
    }
}

} // namespace vime::interpreter
