#include "compiler/Lowering/ConnectRounds.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

using namespace plan;

namespace {

using Edges = std::vector<std::array<std::uint32_t, 2>>;

// The rounds in which a rank is taken, a bit each.
class Calendar {
public:
  static std::uint32_t firstFree(const Calendar &one, const Calendar &other) {
    std::uint32_t word = 0;
    while (~(one.at(word) | other.at(word)) == 0)
      ++word;
    return 64 * word + static_cast<std::uint32_t>(std::countr_one(one.at(word) | other.at(word)));
  }
  void take(std::uint32_t round) {
    words.resize(std::max<std::size_t>(words.size(), round / 64 + 1));
    words[round / 64] |= std::uint64_t{1} << round % 64;
  }

private:
  std::uint64_t at(std::uint32_t word) const { return word < words.size() ? words[word] : 0; }
  std::vector<std::uint64_t> words;
};

// Each edge in the first round in which both its ranks are free.
std::vector<ConnectRound> roundsOf(Edges edges, bool inEveryReplica) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::uint32_t ranks = 0;
  for (const auto &[low, high] : edges)
    ranks = std::max(ranks, high + 1);
  std::vector<Calendar> calendars(ranks);
  std::vector<ConnectRound> rounds;
  for (const auto &[low, high] : edges) {
    const std::uint32_t round = Calendar::firstFree(calendars[low], calendars[high]);
    if (round >= rounds.size())
      rounds.push_back({.inEveryReplica = inEveryReplica, .pairs = {}});
    rounds[round].pairs.push_back({low, high});
    calendars[low].take(round);
    calendars[high].take(round);
  }
  return rounds;
}

class EdgesOfPlan {
public:
  explicit EdgesOfPlan(const Plan &plan) : plan(plan) {}

  // Of the leading replica, which has all channels and groups that the others have.
  Edges inReplica() const {
    Edges edges;
    for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
      for (const Lane &lane : programOf(plan, rank)->lanes) {
        if (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive)
          add(edges, rank, resolvePeer(plan.mesh, rank, lane.peer));
        if (lane.kind == LaneKind::Group && !isAlongData(lane) && !isListed(lane))
          addMembers(edges, rank, plan.groups[lane.group]);
      }
    return edges;
  }

  // At every coordinate a call in which all of its ranks exchange messages.
  bool allReplicasMeet() const {
    for (std::uint32_t coordinate = 0; coordinate < plan.mesh.pipeline; ++coordinate) {
      const std::vector<Lane> &lanes = programOf(plan, coordinate)->lanes;
      if (std::none_of(lanes.begin(), lanes.end(), [&](const Lane &lane) {
            return isAlongData(lane) && isAllWithAll(plan.groups[lane.group]);
          }))
        return false;
    }
    return true;
  }

  Edges ofListedMembers() const {
    Edges edges;
    for (const Group &group : plan.groups)
      for (const std::uint32_t rank : group.members)
        addMembers(edges, rank, group);
    return edges;
  }

  Edges betweenReplicas() const {
    Edges edges;
    for (std::uint32_t coordinate = 0; coordinate < plan.mesh.pipeline; ++coordinate)
      for (const Lane &lane : programOf(plan, coordinate)->lanes)
        if (isAlongData(lane))
          addAllMembers(edges, coordinate, plan.groups[lane.group]);
    return edges;
  }

private:
  bool isAlongData(const Lane &lane) const {
    return lane.kind == LaneKind::Group && plan.groups[lane.group].axes == bitOf(Axis::Data);
  }
  bool isListed(const Lane &lane) const { return !plan.groups[lane.group].members.empty(); }
  static bool isStar(const Group &group) {
    return group.operation == Collective::Broadcast || group.operation == Collective::Gather ||
           group.operation == Collective::BroadcastWeights;
  }
  static bool isChain(const Group &group) {
    return group.operation == Collective::AllReduce || group.operation == Collective::ReduceSquares;
  }
  static bool isAllWithAll(const Group &group) { return !isStar(group) && !isChain(group); }

  static void add(Edges &edges, std::uint32_t one, std::uint32_t other) {
    edges.push_back({std::min(one, other), std::max(one, other)});
  }

  void addMembers(Edges &edges, std::uint32_t rank, const Group &group) const {
    const std::uint32_t own = memberIndex(plan.mesh, rank, group);
    for (std::uint32_t other = own + 1; other < memberCount(plan.mesh, group); ++other)
      if (talk(group.operation, group.root, own, other))
        add(edges, rank, memberRank(plan.mesh, rank, group, other));
  }

  // Where there are thousands of members, a star or a chain has few partners.
  void addAllMembers(Edges &edges, std::uint32_t rank, const Group &group) const {
    const std::uint32_t members = memberCount(plan.mesh, group);
    const auto rankOf = [&](std::uint32_t member) {
      return memberRank(plan.mesh, rank, group, member);
    };
    if (isAllWithAll(group))
      for (std::uint32_t member = 0; member < members; ++member)
        addMembers(edges, rankOf(member), group);
    else
      for (std::uint32_t member = 1; member < members; ++member)
        add(edges, rankOf(isStar(group) ? group.root : member - 1),
            rankOf(isStar(group) && member <= group.root ? member - 1 : member));
  }

  const Plan &plan;
};

} // namespace

std::vector<ConnectRound> connectRounds(const Plan &plan) {
  const EdgesOfPlan edges(plan);
  std::vector<ConnectRound> rounds = roundsOf(edges.inReplica(), plan.mesh.data > 1);
  std::vector<ConnectRound> listed = roundsOf(edges.ofListedMembers(), false);
  rounds.insert(rounds.end(), std::make_move_iterator(listed.begin()),
                std::make_move_iterator(listed.end()));
  if (plan.mesh.data > 1 && edges.allReplicasMeet()) { // and so all groups along `dp`
    rounds.push_back({.allReplicas = true, .pairs = {}});
    return rounds;
  }
  std::vector<ConnectRound> between = roundsOf(edges.betweenReplicas(), false);
  rounds.insert(rounds.end(), std::make_move_iterator(between.begin()),
                std::make_move_iterator(between.end()));
  return rounds;
}

} // namespace vime
