#include "runtime/Trace/WaitGraph.h"

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::flight {
namespace {

using plan::Lane;
using plan::LaneKind;

/// Whether both belong to one group of `group`: they differ only along its axes.
bool areMembers(const plan::Plan &plan, const plan::Group &group, std::uint32_t one,
                std::uint32_t other) {
  const std::uint32_t member = plan::memberIndex(plan.mesh, other, group);
  return plan::memberRank(plan.mesh, one, group, member) == other;
}

/// The lane of `other` at which it meets `lane` of `rank`.
bool meets(const plan::Plan &plan, std::uint32_t rank, const Lane &lane, std::uint32_t other,
           const Lane &theirs) {
  if (lane.kind == LaneKind::Group)
    return theirs.kind == LaneKind::Group && theirs.group == lane.group &&
           areMembers(plan, plan.groups[lane.group], rank, other);
  const LaneKind opposite = lane.kind == LaneKind::Send ? LaneKind::Receive : LaneKind::Send;
  return theirs.kind == opposite && theirs.flow == lane.flow &&
         plan::resolvePeer(plan.mesh, rank, lane.peer) == other &&
         plan::resolvePeer(plan.mesh, other, theirs.peer) == rank;
}

void findOthers(const plan::Plan &plan, const RecordsByRank &records, const Lane &lane,
                Wait &wait) {
  for (std::uint32_t other = 0; other < plan.mesh.ranks(); ++other) {
    const plan::Program *program = plan::programOf(plan, other);
    if (other == wait.rank || !program)
      continue;
    for (std::size_t index = 0; index < program->lanes.size(); ++index) {
      if (!meets(plan, wait.rank, lane, other, program->lanes[index]))
        continue;
      wait.with.push_back(other);
      const FlightRecord *record = other < records.size() ? records[other] : nullptr;
      if (!record || record->header.dispatched[index] < wait.count)
        wait.on.push_back(other);
      break;
    }
  }
}

} // namespace

std::vector<Wait> waitsOf(const plan::Plan &plan, const RecordsByRank &records) {
  std::vector<Wait> waits;
  for (std::uint32_t rank = 0; rank < records.size(); ++rank) {
    const FlightRecord *record = records[rank];
    const plan::Program *program = plan::programOf(plan, rank);
    if (!record || !program || !record->waits() || record->header.waitLane >= program->lanes.size())
      continue;
    Wait wait{.rank = rank, .lane = record->header.waitLane, .count = record->header.waitCount};
    const Lane &lane = program->lanes[wait.lane];
    const bool isEnd = lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive ||
                       (lane.kind == LaneKind::Group && lane.group < plan.groups.size());
    if (isEnd)
      findOthers(plan, records, lane, wait);
    waits.push_back(std::move(wait));
  }
  return waits;
}

} // namespace vime::flight
