// C4: connect rounds cover every edge once: each pair of ranks that a channel joins, and each pair
// that exchanges messages in the calls of a group, in all replicas. What is not connected before
// the first step would be opened in the middle of one, in no agreed order. No rank takes part in
// more groups than a transport opens; its channels stay under the number that waits can name (S3
// sees to it), its open transfers under their cap by waiting for the oldest.
#include <algorithm>
#include <compare>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Caps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;
using Edge = std::array<std::uint32_t, 2>;

Edge edgeOf(std::uint32_t one, std::uint32_t other) {
  return {std::min(one, other), std::max(one, other)};
}

void judgeGroups(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks()) {
    const std::vector<Lane> &lanes = rank.program->lanes;
    const auto groups = std::count_if(
        lanes.begin(), lanes.end(), [](const Lane &lane) { return lane.kind == LaneKind::Group; });
    if (groups > kMostOpenGroups)
      verdict.error(Rule::C4, 3,
                    fmt::format("rank {} takes part in {} groups, {} can be open", rank.rank,
                                groups, kMostOpenGroups));
  }
}

/// The connections of a plan, each of which should be made once.
class Connections {
public:
  Connections(const Plan &plan, Verdict &verdict) : plan(plan), pipeline(plan.mesh.pipeline) {
    for (std::size_t round = 0; round < plan.connect.size(); ++round) {
      if (plan.connect[round].allReplicas && std::exchange(replicasMeet, true))
        verdict.error(Rule::C4, 2,
                      fmt::format("all replicas are connected a second time in round {}", round));
      for (const Edge &pair : plan.connect[round].pairs)
        all(plan.connect[round].inEveryReplica).push_back({pair, round});
    }
    for (std::vector<Made> *made : {&inside, &between}) {
      std::sort(made->begin(), made->end());
      for (std::size_t index = 1; index < made->size(); ++index)
        if ((*made)[index].edge == (*made)[index - 1].edge)
          repeated((*made)[index], verdict);
    }
    for (const Made &made : between)
      if (replicasMeet && areAlike(made.edge))
        repeated(made, verdict);
  }

  bool have(const Edge &edge) const {
    if (plan.mesh.isEngine(edge[1]))
      return has(between, edge);
    const bool sameReplica = edge[0] / pipeline == edge[1] / pipeline;
    return has(between, edge) || (replicasMeet && areAlike(edge)) ||
           (sameReplica && has(inside, {edge[0] % pipeline, edge[1] % pipeline}));
  }

private:
  struct Made {
    Edge edge;
    std::size_t round;
    auto operator<=>(const Made &) const = default;
  };
  /// Of two replicas, at the same place in both: they meet where all replicas do.
  bool areAlike(const Edge &edge) const {
    return edge[0] != edge[1] && edge[0] % pipeline == edge[1] % pipeline;
  }
  static void repeated(const Made &made, Verdict &verdict) {
    verdict.error(Rule::C4, 2,
                  fmt::format("ranks {} and {} are connected a second time in round {}",
                              made.edge[0], made.edge[1], made.round));
  }
  std::vector<Made> &all(bool inEveryReplica) { return inEveryReplica ? inside : between; }
  static bool has(const std::vector<Made> &made, const Edge &edge) {
    const auto found = std::lower_bound(made.begin(), made.end(), Made{edge, 0});
    return found != made.end() && found->edge == edge;
  }

  const Plan &plan;
  const std::uint32_t pipeline;
  std::vector<Made> inside, between; // every replica; replicas, and pairs that are stated by rank
  bool replicasMeet = false;         // every two of them
};

class Edges {
public:
  Edges(const ActionTable &table, Verdict &verdict)
      : table(table), plan(table.plan()), verdict(verdict), connections(plan, verdict) {}

  void judge() {
    for (const LaneView &lane : table.lanes())
      if (lane.partner != kNone && lane.first != lane.end)
        expect(lane, table.lanes()[lane.partner].rank);
    for (const GroupView &view : table.groups())
      if (view.lanes.front() != kNone && isCalled(table.lanes()[view.lanes.front()]))
        members(view, table.lanes()[view.lanes.front()]);
  }

private:
  static bool isCalled(const LaneView &lane) { return lane.first != lane.end; }

  /// All who exchange messages in a call, also those of replicas that are not in the table.
  void members(const GroupView &view, const LaneView &lane) {
    const Group &group = plan.groups[view.group];
    const std::uint32_t count = memberCount(plan.mesh, group),
                        first = table.ranks()[view.members.front()].rank;
    const auto rankOf = [&](std::uint32_t member) {
      return memberRank(plan.mesh, first, group, member);
    };
    // Of a star or a chain few members talk to one another.
    const bool allTalk = count > 2 && talk(group.operation, group.root, 0, count - 1) &&
                         talk(group.operation, group.root, 1, count - 1);
    if (allTalk && !judged.insert({group.axes, first}).second)
      return;
    for (std::uint32_t one = 0; one < count; ++one)
      for (std::uint32_t other = one + 1;
           other < (allTalk || one == group.root ? count : std::min(count, one + 2)); ++other)
        if (talk(group.operation, group.root, one, other) &&
            !expect(lane, rankOf(one), rankOf(other)))
          return;
  }

  bool expect(const LaneView &lane, std::uint32_t peer) {
    return peer == lane.rank || expect(lane, lane.rank, peer);
  }
  bool expect(const LaneView &lane, std::uint32_t one, std::uint32_t other) {
    const Edge edge = edgeOf(one, other);
    if (connections.have(edge))
      return true;
    if (told.insert(edge).second)
      verdict.error(Rule::C4, 1,
                    fmt::format("no round connects ranks {} and {}, which exchange messages on {}",
                                edge[0], edge[1], describeLane(plan, lane.rank, lane.lane)));
    return false;
  }

  const ActionTable &table;
  const Plan &plan;
  Verdict &verdict;
  const Connections connections;
  std::set<Edge> told;
  std::set<std::pair<std::uint8_t, std::uint32_t>> judged; // axes and first rank: all with all
};

} // namespace

void verifyEdgesConnected(const ActionTable &table, Verdict &verdict) {
  judgeGroups(table, verdict);
  Edges(table, verdict).judge();
}

} // namespace vime::verify
