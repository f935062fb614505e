#include "compiler/Verify/WaitCycle.h"

#include <algorithm>

namespace vime::verify {
namespace {

using namespace plan;

class Rendezvous {
public:
  explicit Rendezvous(const ActionTable &table)
      : table(table), arrived(table.groups().size(), 0), isWaiting(table.ranks().size(), false) {
    for (const RankView &rank : table.ranks()) {
      heads.push_back(rank.first);
      ready.push_back(rank.rank);
    }
  }

  void run() {
    while (!ready.empty()) {
      const std::uint32_t rank = ready.back();
      ready.pop_back();
      advance(table.ranks()[rank]);
    }
  }

  std::vector<Standstill> cycle() const {
    for (const RankView &rank : table.ranks())
      if (heads[rank.rank] != rank.end)
        return cycleFrom(rank.rank);
    return {};
  }

private:
  void advance(const RankView &rank) {
    for (std::uint32_t &head = heads[rank.rank]; head != rank.end; ++head) {
      const LaneView &lane = table.lane(rank, table.action(rank, head).lane);
      if (lane.stream == kNone)
        continue;
      if (table.laneOf(lane).kind == LaneKind::Group ? !meetGroup(lane) : !meetPeer(lane))
        return;
    }
  }

  /// Both heads stand on the two ends of one channel. As many messages went through both, so they
  /// are the same one.
  bool meetPeer(const LaneView &lane) {
    const LaneView &partner = table.lanes()[lane.partner];
    const RankView &peer = table.ranks()[partner.rank];
    std::uint32_t &head = heads[peer.rank];
    if (head == peer.end || table.action(peer, head).lane != partner.lane)
      return false;
    ++head;
    ready.push_back(peer.rank);
    return true;
  }

  bool meetGroup(const LaneView &lane) {
    if (isWaiting[lane.rank])
      return false; // counted when it came
    isWaiting[lane.rank] = true;
    const std::vector<std::uint32_t> &members = table.groups()[lane.stream].members;
    if (++arrived[lane.stream] < members.size())
      return false;
    arrived[lane.stream] = 0;
    for (const std::uint32_t rank : members) {
      isWaiting[rank] = false;
      if (rank == lane.rank)
        continue;
      ++heads[rank];
      ready.push_back(rank);
    }
    return true;
  }

  /// What the head of a stuck rank needs: the next call or message on the lane of a rank that has
  /// not come there.
  Standstill needOf(std::uint32_t rank) const {
    const RankView &view = table.ranks()[rank];
    const LaneView &lane = table.lane(view, table.action(view, heads[rank]).lane);
    const std::vector<std::uint32_t> &members = table.laneOf(lane).kind == LaneKind::Group
                                                    ? table.groups()[lane.stream].lanes
                                                    : std::vector{lane.partner};
    for (const std::uint32_t other : members) {
      const LaneView &its = table.lanes()[other];
      const auto entries = table.dispatched(its);
      const auto next = std::lower_bound(entries.begin(), entries.end(), heads[its.rank]);
      if (its.rank != rank && next != entries.end() && *next != heads[its.rank])
        return {rank, heads[rank], its.rank, *next};
    }
    return {rank, heads[rank], rank,
            heads[rank]}; // unreachable: as many are left at every end, and not all stand there
  }

  std::vector<Standstill> cycleFrom(std::uint32_t rank) const {
    std::vector<Standstill> path;
    while (true) {
      const auto seen = std::find_if(path.begin(), path.end(),
                                     [rank](const Standstill &one) { return one.rank == rank; });
      if (seen != path.end())
        return {seen, path.end()};
      path.push_back(needOf(rank));
      rank = path.back().neededRank;
    }
  }

  const ActionTable &table;
  std::vector<std::uint32_t> heads, ready;
  std::vector<std::size_t> arrived; // members whose head is this call of the group
  std::vector<bool> isWaiting;      // ranks counted there
};

} // namespace

std::vector<Standstill> findWaitCycle(const ActionTable &table) {
  Rendezvous rendezvous(table);
  rendezvous.run();
  return rendezvous.cycle();
}

} // namespace vime::verify
