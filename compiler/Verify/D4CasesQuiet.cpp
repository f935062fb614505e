// D4: a case starts and ends quiet: as many messages of each channel are received in it as are sent
// in it. Together with the lanes, which are drained at both edges, nothing is under way there.
#include <fmt/format.h>

#include "compiler/Verify/DecisionUses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

/// Messages of one end of a channel by case; the last entry counts those outside of all.
std::vector<std::uint32_t> countsOf(const ActionTable &table, std::uint32_t laneIndex) {
  const LaneView &lane = table.lanes()[laneIndex];
  const Program &program = *table.ranks()[lane.rank].program;
  std::vector<std::uint32_t> counts(program.cases.size() + 1, 0);
  for (std::uint32_t action = 0; action < program.actions.size(); ++action)
    if (program.actions[action].lane == lane.lane) {
      const Case *one = caseAround(program, action);
      ++counts[one ? static_cast<std::size_t>(one - program.cases.data()) : program.cases.size()];
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
