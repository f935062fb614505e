#include "compiler/Verify/LongLoops.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/Verify/LoopedPart.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;

bool isSame(const Loop *one, const Loop *other) {
  return one->id == other->id && one->trips == other->trips && one->start == other->start &&
         one->period == other->period && one->perTrip == other->perTrip;
}

/// What ranks do together, section by section.
class Meetings {
public:
  explicit Meetings(const Plan &plan) : plan(plan) {}

  void add(const LoopedPart &part, std::uint32_t rank) {
    part.addMessages(channels);
    const std::vector<Lane> &lanes = programOf(plan, rank)->lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].kind == LaneKind::Group) {
        const std::uint32_t group = lanes[lane].group;
        const std::uint32_t first = memberRank(plan.mesh, rank, plan.groups[group], 0);
        BySection calls = part.callsOn(lane);
        const auto known = groups.try_emplace({group, first}, calls).first;
        doGroupsAgree = doGroupsAgree && known->second == calls;
      }
  }

  /// Ends meet in the same part of the case, unless the first loop brings one to the other.
  bool areInStep() const {
    return doGroupsAgree && std::all_of(channels.begin(), channels.end(),
                                        [](const auto &entry) { return isInStep(entry.second); });
  }

private:
  static bool isInStep(const ChannelBalance &balance) {
    std::int64_t left = 0;
    for (std::size_t loop = 1; loop < balance.left.size(); loop += 2) {
      left += balance.left[loop - 1];
      const bool mayDiffer = loop == 1 && balance.isInFirstLoop;
      if (balance.left[loop] != 0 || (left != 0 && !mayDiffer))
        return false;
    }
    return true;
  }

  const Plan &plan;
  std::map<ChannelKey, ChannelBalance> channels;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BySection> groups; // by first member
  bool doGroupsAgree = true;
};

} // namespace

std::optional<LongLoops> longLoopsOf(const Plan &plan, std::size_t caseIndex,
                                     std::uint32_t microbatches) {
  LongLoops result;
  std::uint64_t reach = 0;
  Meetings meetings(plan);
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    if (caseIndex >= programOf(plan, rank)->cases.size())
      return std::nullopt;
    LoopedPart part(plan, rank, caseIndex, microbatches);
    if (!part.isOfOneKind())
      return std::nullopt;
    const auto loops = part.loops();
    if (rank == 0)
      result = {{loops.begin(), loops.end()}, 0, part.advance()};
    const bool isAlike = part.advance() == result.advance && loops.size() == result.loops.size() &&
                         std::equal(loops.begin(), loops.end(), result.loops.begin(), isSame) &&
                         std::all_of(loops.begin(), loops.end(), [&](const Loop *loop) {
                           return loop->perTrip == loops[0]->perTrip;
                         });
    if (!isAlike)
      return std::nullopt;
    reach = std::max(reach, part.reach());
    meetings.add(part, rank);
  }
  constexpr std::uint64_t kMargin = 4; // both edges, and a trip on each side
  const bool isLong = std::all_of(result.loops.begin(), result.loops.end(),
                                  [&](const Loop *loop) { return reach + kMargin < loop->trips; });
  if (!isLong || !meetings.areInStep())
    return std::nullopt;
  result.enough = static_cast<std::uint32_t>(reach + kMargin);
  return result;
}

} // namespace vime::verify
