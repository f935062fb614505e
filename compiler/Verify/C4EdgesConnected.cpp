// C4: connect rounds cover every edge once: each pair of ranks that a channel joins, and each
// member of a group that is called with its root. What is not connected before the first step would
// be opened in the middle of one, in no agreed order. No rank takes part in more groups than a
// transport opens; its channels stay under the number that waits can name (S3 sees to it), its open
// transfers under their cap by waiting for the oldest.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Caps.h"
#include "runtime/Plan/Describe.h"

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

} // namespace

void verifyEdgesConnected(const ActionTable &table, Verdict &verdict) {
  judgeGroups(table, verdict);
  const std::uint32_t pipeline = table.plan().mesh.pipeline;
  std::set<Edge> inside, connected; // of every replica, of the plan
  const std::vector<ConnectRound> &rounds = table.plan().connect;
  for (std::size_t round = 0; round < rounds.size(); ++round)
    for (const Edge &pair : rounds[round].pairs)
      if (!(rounds[round].inEveryReplica ? inside : connected).insert(pair).second)
        verdict.error(Rule::C4, 2,
                      fmt::format("ranks {} and {} are connected a second time in round {}",
                                  pair[0], pair[1], round));
  const auto isConnected = [&](const Edge &edge) {
    const bool sameReplica = edge[0] / pipeline == edge[1] / pipeline;
    return connected.count(edge) != 0 ||
           (sameReplica && inside.count({edge[0] % pipeline, edge[1] % pipeline}) != 0);
  };
  std::set<Edge> told;
  for (const LaneView &lane : table.lanes()) {
    if (lane.partner == kNone || lane.first == lane.end)
      continue;
    const std::uint32_t peer = table.lanes()[lane.partner].rank;
    const Edge edge = edgeOf(lane.rank, peer);
    if (peer != lane.rank && !isConnected(edge) && told.insert(edge).second)
      verdict.error(Rule::C4, 1,
                    fmt::format("no round connects ranks {} and {}, which exchange messages on {}",
                                edge[0], edge[1],
                                describeLane(table.plan(), lane.rank, lane.lane)));
  }
}

} // namespace vime::verify
