#include "tests/analysis/TickSimulator.h"

#include <algorithm>
#include <map>

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;

namespace {

class Ticks {
public:
  Ticks(const ActionTable &table, const Durations &durations,
        const std::map<std::uint32_t, std::int64_t> &later)
      : table(table), durations(durations), later(later), times(table.size()),
        next(table.ranks().size()), busyUntil(table.ranks().size(), 0) {
    for (std::size_t rank = 0; rank < next.size(); ++rank)
      next[rank] = table.ranks()[rank].first;
  }

  std::vector<TickTimes> run(std::int64_t most) {
    for (now = 0; now < most && !isOver(); ++now) {
      bool moves = true;
      while (moves) { // what takes no time may let others go on at the same tick
        moves = false;
        for (std::size_t rank = 0; rank < next.size(); ++rank)
          moves = tryRank(rank) || moves;
        moves = tryMeetings() || moves;
      }
    }
    return times;
  }

private:
  bool isOver() const {
    for (std::size_t rank = 0; rank < next.size(); ++rank)
      if (next[rank] != table.ranks()[rank].end)
        return false;
    return std::all_of(times.begin(), times.end(),
                       [this](const TickTimes &one) { return one.end >= 0 && one.end <= now; });
  }

  bool hasEnded(std::uint32_t entry) const {
    return times[entry].end >= 0 && times[entry].end <= now;
  }

  /// Entries of the lane that were dispatched so far, in their order.
  std::vector<std::uint32_t> dispatched(const RankView &rank, std::uint32_t lane) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t entry = rank.first; entry < next[rank.rank]; ++entry)
      if (table.action(rank, entry).lane == lane)
        found.push_back(entry);
    return found;
  }

  bool mayStart(const RankView &rank, std::uint32_t entry) const {
    if (busyUntil[rank.rank] > now)
      return false;
    if (entry != rank.first) {
      const std::uint32_t before = entry - 1;
      if ((table.action(rank, before).flags & kHostBlocking) != 0 && !hasEnded(before))
        return false;
      if (std::find(rank.quiet.begin(), rank.quiet.end(), before) != rank.quiet.end())
        for (std::uint32_t past = rank.first; past < entry; ++past)
          if (!hasEnded(past))
            return false;
    }
    for (const Wait wait : table.action(rank, entry).waits) {
      if (wait.empty())
        break;
      const auto lane = dispatched(rank, static_cast<std::uint32_t>(wait.lane()));
      const auto distance = static_cast<std::size_t>(wait.distance());
      if (distance <= lane.size() && !hasEnded(lane[lane.size() - distance]))
        return false;
    }
    return true;
  }

  bool tryRank(std::size_t index) {
    const RankView &rank = table.ranks()[index];
    const std::uint32_t entry = next[index];
    if (entry == rank.end || !mayStart(rank, entry))
      return false;
    const Action &action = table.action(rank, entry);
    const LaneKind kind = rank.program->lanes[action.lane].kind;
    times[entry].posted = now;
    if (runsOnDispatcher(kind)) {
      times[entry].end = now + cost(rank, action) + delay(entry);
      busyUntil[index] = times[entry].end;
    } else if (kind == LaneKind::Host || kind == LaneKind::Io) {
      const auto before = dispatched(rank, action.lane);
      const std::int64_t free = before.empty() ? 0 : times[before.back()].end;
      times[entry].end = std::max(now, free) + cost(rank, action) + delay(entry);
    }
    ++next[index];
    return true;
  }

  std::int64_t delay(std::uint32_t entry) const {
    const auto found = later.find(entry);
    return found == later.end() ? 0 : found->second;
  }

  std::int64_t cost(const RankView &rank, const Action &action) const {
    const auto opcode = static_cast<Opcode>(action.opcode);
    return findSignature(action.opcode)->perStage
               ? durations.stages[rank.stages[action.stage]][opcode]
               : durations.ofRank[opcode];
  }

  /// First calls of channels and groups that have not started, where everybody has come.
  bool tryMeetings() {
    bool moves = false;
    for (const verify::Channel &channel : table.channels())
      moves =
          tryMeeting({channel.sendLanes.front(), channel.receiveLanes.front()}, &channel) || moves;
    for (const verify::GroupView &group : table.groups())
      moves = (table.plan().groups[group.group].operation == Collective::Broadcast
                   ? tryBroadcast(group)
                   : tryMeeting(group.lanes, nullptr)) ||
              moves;
    return moves;
  }

  std::vector<std::uint32_t> callsOn(std::uint32_t lane) const {
    const verify::LaneView &view = table.lanes()[lane];
    return dispatched(table.ranks()[view.rank], view.lane);
  }

  /// A call ends for a member when the root has come to it, for the root when all members have.
  bool tryBroadcast(const verify::GroupView &group) {
    bool moves = false;
    const std::vector<std::uint32_t> ofRoot = callsOn(group.lanes[group.root]);
    std::size_t ofAll = ofRoot.size();
    const auto end = [&](std::uint32_t entry) {
      moves = moves || times[entry].end < 0;
      times[entry].end = times[entry].end < 0 ? now + delay(entry) : times[entry].end;
    };
    for (std::size_t member = 0; member < group.lanes.size(); ++member) {
      const std::vector<std::uint32_t> calls = callsOn(group.lanes[member]);
      ofAll = std::min(ofAll, calls.size());
      for (std::size_t call = 0; call < calls.size() && member != group.root; ++call)
        if (call < ofRoot.size())
          end(calls[call]);
    }
    for (std::size_t call = 0; call < ofAll; ++call)
      end(ofRoot[call]);
    return moves;
  }

  bool tryMeeting(const std::vector<std::uint32_t> &lanes, const verify::Channel *channel) {
    std::vector<std::uint32_t> waiting;
    for (const std::uint32_t lane : lanes) {
      const verify::LaneView &view = table.lanes()[lane];
      std::uint32_t first = kNone;
      for (const std::uint32_t entry : dispatched(table.ranks()[view.rank], view.lane))
        if (first == kNone && times[entry].end < 0)
          first = entry;
      if (first == kNone)
        return false;
      waiting.push_back(first);
    }
    std::int64_t end = now;
    if (channel) {
      std::int64_t &free = linkFree[{channel->source, channel->destination}];
      if (free > now)
        return false;
      const Message &message = table.laneOf(table.lanes()[lanes.front()]).message;
      const double bytes = message.fixed + double(message.perToken) * table.plan().data.tokens;
      const bool isNear =
          channel->source / durations.ranksPerNode == channel->destination / durations.ranksPerNode;
      const LinkTimes &link = isNear ? durations.near : durations.far;
      free = now + static_cast<std::int64_t>(link.perByte * bytes);
      end = free + link.latency +
            (channel->flow == Flow::Forward || channel->flow == Flow::Backward
                 ? durations.boundaryLatency
                 : 0);
    }
    for (const std::uint32_t entry : waiting)
      times[entry].end = end + delay(entry);
    return true;
  }

  const ActionTable &table;
  const Durations &durations;
  const std::map<std::uint32_t, std::int64_t> &later;
  std::vector<TickTimes> times;
  std::vector<std::uint32_t> next; // by rank: entry to dispatch
  std::vector<std::int64_t> busyUntil;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> linkFree;
  std::int64_t now = 0;
};

} // namespace

std::vector<TickTimes> tickThrough(const ActionTable &table, const Durations &durations,
                                   std::int64_t most,
                                   const std::map<std::uint32_t, std::int64_t> &later) {
  return Ticks(table, durations, later).run(most);
}

} // namespace vime
