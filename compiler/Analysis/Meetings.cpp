#include "compiler/Analysis/Meetings.h"

#include <algorithm>
#include <bit>
#include <map>

#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;

namespace {

constexpr std::size_t kNoMeeting = ~std::size_t{0}, kNoLink = ~std::size_t{0};

} // namespace

std::int64_t wireTime(const LinkTimes &link, std::uint64_t bytes) {
  return static_cast<std::int64_t>(link.perByte * static_cast<double>(bytes));
}

std::uint64_t bytesOf(const Plan &plan, const Message &message) {
  return message.fixed + std::uint64_t{message.perToken} * plan.data.tokens;
}

Meetings::Meetings(const ActionTable &table, const Durations &durations,
                   const std::vector<LaneQueue> &queues, std::vector<ActionTimes> &times)
    : table(table), durations(durations), queues(queues), times(times),
      meetingOf(table.lanes().size(), kNoMeeting) {
  addChannels();
  addGroups();
}

void Meetings::addChannels() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  for (const verify::Channel &channel : table.channels()) {
    if (!channel.matched)
      continue; // whoever calls it is stuck
    const auto [place, isNew] =
        known.try_emplace({channel.source, channel.destination}, links.size());
    if (isNew)
      links.emplace_back();
    const std::uint32_t send = channel.sendLanes.front();
    const bool isBoundary = channel.flow == Flow::Forward || channel.flow == Flow::Backward;
    const LinkTimes &link = durations.link(channel.source, channel.destination);
    join({.lanes = {send, channel.receiveLanes.front()},
          .link = place->second,
          .times = link,
          .carried =
              wireTime(link, bytesOf(table.plan(), table.laneOf(table.lanes()[send]).message)),
          .latency = link.latency + (isBoundary ? durations.boundaryLatency : 0)});
  }
}

void Meetings::addGroups() {
  const Plan &plan = table.plan();
  for (const verify::GroupView &view : table.groups()) {
    if (!view.matched)
      continue;
    const Group &group = plan.groups[view.group];
    const auto others = std::int64_t{memberCount(plan.mesh, group)} - 1;
    const LinkTimes &link = slowestOf(view);
    const std::int64_t carried = wireTime(link, bytesOf(plan, group.message));
    Meeting meeting{.lanes = view.lanes, .link = kNoLink, .times = link};
    switch (group.operation) {
    case Collective::Broadcast:
      meeting.root = view.lanes[view.root];
      meeting.carried = others == 0 ? 0 : carried;
      meeting.latency = link.latency * std::bit_width(static_cast<std::uint64_t>(others)); // a tree
      break;
    case Collective::BroadcastWeights: // bytes: those of a part, and the last one counts as one
      meeting.carried = carried;
      meeting.latency = link.latency * std::bit_width(static_cast<std::uint64_t>(others));
      break;
    case Collective::Gather:
      meeting.carried = others * carried;
      meeting.latency = others == 0 ? 0 : link.latency;
      break;
    case Collective::AllGather:
      meeting.carried = others * carried;
      meeting.latency = others * link.latency;
      break;
    case Collective::AllReduce: // up the chain of members and down again; bytes: its operand's
    case Collective::ReduceSquares:
      meeting.latency = 2 * others * link.latency;
      break;
    case Collective::Unshard: // to all others; likewise
    case Collective::ReduceScatter:
      meeting.latency = others * link.latency;
      break;
    }
    join(std::move(meeting));
  }
}

const LinkTimes &Meetings::slowestOf(const verify::GroupView &group) const {
  const Mesh &mesh = table.plan().mesh;
  const Group &of = table.plan().groups[group.group];
  const std::uint32_t some = table.ranks()[table.lanes()[group.lanes.front()].rank].rank;
  const auto nodeOf = [&](std::uint32_t member) {
    return durations.nodeOf(memberRank(mesh, some, of, member));
  };
  for (std::uint32_t member = 1; member < memberCount(mesh, of); ++member)
    if (nodeOf(member) != nodeOf(0))
      return durations.far;
  return durations.near;
}

void Meetings::join(Meeting meeting) {
  for (const std::uint32_t lane : meeting.lanes)
    meetingOf[lane] = meetings.size();
  meetings.push_back(std::move(meeting));
}

std::span<const EndOnLane> Meetings::come(std::uint32_t lane, std::int64_t now) {
  ended.clear();
  if (meetingOf[lane] == kNoMeeting)
    return ended; // nobody ever comes
  Meeting &meeting = meetings[meetingOf[lane]];
  if (meeting.root != kNone)
    broadcast(meeting, lane, now);
  else if (std::ranges::all_of(meeting.lanes, [&](std::uint32_t party) {
             return queues[party].entries.size() > meeting.done;
           }))
    meet(meeting, lane, now);
  return ended;
}

/// All have come, the lane last.
void Meetings::meet(Meeting &meeting, std::uint32_t lane, std::int64_t now) {
  const std::size_t call = meeting.done++;
  const bool isTransfer = meeting.link != kNoLink;
  std::int64_t begin = now;
  std::uint32_t behind = kNone;
  const std::int64_t carried = meeting.carried + reduced(meeting.times, lane, call);
  if (isTransfer) {
    Link &link = links[meeting.link];
    if (link.freeAt > now) {
      begin = link.freeAt;
      behind = link.last;
    }
    link.freeAt = begin + carried;
    link.last = queues[meeting.lanes.front()].entries[call];
  }
  const std::int64_t end = begin + carried + meeting.latency;
  for (const std::uint32_t party : meeting.lanes) {
    const std::uint32_t entry = queues[party].entries[call];
    ActionTimes &time = times[entry];
    time.ready = now;
    time.begin = begin;
    time.end = end;
    time.readyBehind = queues[lane].entries[call];
    time.begunBehind = behind;
    if (isTransfer)
      time.peer = queues[meeting.lanes[party == meeting.lanes[0]]].entries[call];
    ended.push_back({party, entry, end});
  }
}

/// A member is done once it and the root have come, the root once all have.
void Meetings::broadcast(Meeting &meeting, std::uint32_t lane, std::int64_t now) {
  const std::uint32_t comes = queues[lane].entries.back();
  const auto serve = [&](std::uint32_t party, std::size_t call) {
    const std::uint32_t entry = queues[party].entries[call];
    ActionTimes &time = times[entry];
    time.ready = time.begin = now;
    time.end = now + meeting.carried + meeting.latency;
    time.readyBehind = comes;
    ended.push_back({party, entry, time.end});
  };
  const std::size_t call = queues[lane].entries.size() - 1;
  for (const std::uint32_t member : meeting.lanes)
    if (member != meeting.root && (lane == meeting.root || member == lane) &&
        std::min(queues[member].entries.size(), queues[meeting.root].entries.size()) > call)
      serve(member, call);
  if (std::ranges::all_of(meeting.lanes, [&](std::uint32_t party) {
        return queues[party].entries.size() > meeting.done;
      }))
    serve(meeting.root, meeting.done++);
}

/// Of a sum over all: twice its operand, up the chain of members and down. Of shares: those of
/// the others.
std::int64_t Meetings::reduced(const LinkTimes &link, std::uint32_t lane, std::size_t call) const {
  const Plan &plan = table.plan();
  const verify::RankView &own = table.ranks()[table.lanes()[lane].rank];
  const Action &action = table.action(own, queues[lane].entries[call]);
  const Lane &fields = own.program->lanes[action.lane];
  if (fields.kind != LaneKind::Group || !movesOperands(plan.groups[fields.group].operation))
    return 0;
  const Group &group = plan.groups[fields.group];
  const std::int64_t members = memberCount(plan.mesh, group);
  const std::uint64_t bytes = own.layout->buffers[own.program->operands[action.operands]].bytes;
  if (group.operation == Collective::Unshard)
    return (members - 1) * wireTime(link, bytes);
  if (group.operation == Collective::ReduceScatter)
    return (members - 1) * wireTime(link, bytes / static_cast<std::uint64_t>(members));
  return 2 * wireTime(link, bytes);
}

} // namespace vime
