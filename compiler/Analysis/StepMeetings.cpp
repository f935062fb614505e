#include "compiler/Analysis/StepMeetings.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/Analysis/StepBody.h"

namespace vime {

using verify::ActionTable;
using verify::kNone;

namespace {

/// The calls of a lane that are in the loop over steps.
std::span<const std::uint32_t> stepCalls(const ActionTable &table, std::uint32_t lane) {
  const verify::LaneView &view = table.lanes()[lane];
  const auto all = table.dispatched(view);
  const auto [begin, end] = stepEntriesOf(table.ranks()[view.rank]);
  const auto first = std::lower_bound(all.begin(), all.end(), begin);
  return {first, std::lower_bound(first, all.end(), end)};
}

} // namespace

StepMeetings::StepMeetings(const ActionTable &table, const Simulated &run)
    : table(table), ofEntry(table.size(), kNone) {
  for (const verify::Channel &channel : table.channels())
    if (channel.matched)
      addCalls(std::array{channel.sendLanes.front(), channel.receiveLanes.front()}, kNone,
               /*isTransfer=*/true);
  for (const verify::GroupView &group : table.groups())
    if (group.matched)
      addCalls(group.lanes,
               table.plan().groups[group.group].operation == plan::Collective::Broadcast
                   ? group.root
                   : kNone,
               /*isTransfer=*/false);
  orderLinks(run);
}

/// The k-th calls of all of them, for each k.
void StepMeetings::addCalls(std::span<const std::uint32_t> lanes, std::uint32_t root,
                            bool isTransfer) {
  std::vector<std::span<const std::uint32_t>> calls;
  for (const std::uint32_t lane : lanes)
    calls.push_back(stepCalls(table, lane));
  for (std::size_t call = 0; call < calls.front().size(); ++call) {
    StepMeeting meeting{.first = static_cast<std::uint32_t>(parties.size()),
                        .count = static_cast<std::uint32_t>(calls.size()),
                        .root = root == kNone ? kNone : calls[root][call],
                        .isTransfer = isTransfer};
    for (const auto &ofLane : calls) {
      ofEntry[ofLane[call]] = static_cast<std::uint32_t>(meetings.size());
      parties.push_back(ofLane[call]);
    }
    meetings.push_back(meeting);
  }
}

/// A link carries messages in the sequence in which the last of their ends came.
void StepMeetings::orderLinks(const Simulated &run) {
  struct Carried {
    std::uint32_t first = kNone, last = kNone;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Carried> links;
  std::vector<std::uint8_t> came(meetings.size(), 0);
  for (const std::uint32_t entry : run.sequence) {
    const std::uint32_t index = ofEntry[entry];
    if (index == kNone || !meetings[index].isTransfer || ++came[index] != 2)
      continue;
    StepMeeting &meeting = meetings[index];
    Carried &link = links[{table.rankOf(parties[meeting.first]).rank,
                           table.rankOf(parties[meeting.first + 1]).rank}];
    meeting.linkBefore = link.last;
    link.last = index;
    if (link.first == kNone)
      link.first = index;
  }
  for (const auto &[ranks, link] : links) {
    meetings[link.first].linkBefore = link.last;
    meetings[link.first].isFirstOnLink = true;
  }
}

} // namespace vime
