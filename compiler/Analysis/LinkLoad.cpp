#include "compiler/Analysis/LinkLoad.h"

#include <algorithm>
#include <map>

#include "compiler/Analysis/Meetings.h"
#include "compiler/Analysis/StepBody.h"

namespace vime {

using verify::ActionTable;

namespace {

struct Interval {
  std::int64_t begin, end;
};

/// How long at least one of them lasts.
std::int64_t covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval &one, const Interval &other) { return one.begin < other.begin; });
  std::int64_t sum = 0, until = INT64_MIN;
  for (const auto &[begin, end] : intervals) {
    sum += std::max<std::int64_t>(0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return sum;
}

} // namespace

std::vector<LinkLoad> linkLoadsOf(const ActionTable &table, const Simulated &run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<LinkLoad, std::vector<Interval>>>
      links;
  for (const verify::Channel &channel : table.channels()) {
    if (!channel.matched)
      continue;
    auto &[load, intervals] = links[{channel.source, channel.destination}];
    load.source = channel.source;
    load.destination = channel.destination;
    const verify::LaneView &lane = table.lanes()[channel.sendLanes.front()];
    const auto [first, end] = stepEntriesOf(table.ranks()[lane.rank]);
    const std::uint64_t bytes = bytesOf(table.plan(), table.laneOf(lane).message);
    for (const std::uint32_t entry : table.dispatched(lane)) {
      if (entry < first || entry >= end)
        continue;
      ++load.messages;
      load.bytes += bytes;
      intervals.push_back({run.times[entry].begin, run.times[entry].end});
    }
  }
  std::vector<LinkLoad> loads;
  for (auto &[ranks, link] : links) {
    link.first.busy = covered(std::move(link.second));
    loads.push_back(link.first);
  }
  std::stable_sort(loads.begin(), loads.end(), [](const LinkLoad &one, const LinkLoad &other) {
    return std::pair(one.busy, one.bytes) > std::pair(other.busy, other.bytes);
  });
  return loads;
}

} // namespace vime
