// D4: a case starts and ends quiet: as many messages of each channel are received in it as are sent
// in it. Together with the lanes, which are drained at both edges, nothing is under way there.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"

namespace vime::verify {
namespace {

using namespace plan;

/// Messages of one end of a channel by case; the last entry counts those outside of all.
std::vector<std::uint64_t> countsOf(const ActionTable &table, std::uint32_t laneIndex) {
  const LaneView &lane = table.lanes()[laneIndex];
  const Program &program = *table.ranks()[lane.rank].program;
  std::vector<std::uint64_t> counts(program.cases.size() + 1, 0);
  for (const Stretch &stretch :
       stretchesOf(program, tripsOf(table.plan(), program, table.choice()))) {
    const std::size_t place = stretch.within
                                  ? static_cast<std::size_t>(stretch.within - program.cases.data())
                                  : program.cases.size();
    const auto begin = program.actions.begin() + stretch.begin;
    const auto messages =
        std::count_if(begin, program.actions.begin() + stretch.end,
                      [&](const Action &action) { return action.lane == lane.lane; });
    counts[place] += static_cast<std::uint64_t>(messages) * stretch.trips;
  }
  return counts;
}

} // namespace

void verifyCasesQuiet(const ActionTable &table, Verdict &verdict) {
  for (const Channel &channel : table.channels()) {
    if (channel.sendLanes.size() != 1 || channel.receiveLanes.size() != 1)
      continue; // C1's to tell
    const auto sent = countsOf(table, channel.sendLanes[0]),
               received = countsOf(table, channel.receiveLanes[0]);
    for (std::size_t index = 0; index + 1 < sent.size() && sent.size() == received.size(); ++index)
      if (sent[index] != received[index]) {
        const LaneView &lane = table.lanes()[channel.sendLanes[0]];
        verdict.error(
            Rule::D4, 1,
            fmt::format("case {} does not end quiet: {} of {} are sent in it, {} received", index,
                        sent[index], describeLane(table.plan(), lane.rank, lane.lane),
                        received[index]));
        break;
      }
  }
}

} // namespace vime::verify
