#include "tests/Mutation/Reclock.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "tests/Interpreter/Blocks.h"

namespace vime {
namespace {

using namespace plan;
using interpreter::Block;

constexpr std::int64_t kRoom = 4; // periods become so many times as long: for what was added

/// An action of a program in one iteration: its time is its base and this.
struct Place {
  std::uint32_t base; // index of the unknown
  std::int64_t offset;
  std::uint32_t lane;
};

/// One rank's way through its program, of a loop over steps the first iterations and the last.
class Walk {
public:
  Walk(const Program &program, std::uint32_t firstBase) : program(program), firstBase(firstBase) {
    std::int64_t start = 0;
    block(interpreter::blocksOf(program), 0, start);
  }
  std::vector<Place> places;

private:
  void block(const Block &block, std::int64_t origin, std::int64_t &start) {
    std::size_t inside = 0;
    for (std::uint32_t action = block.begin; action < block.end;) {
      if (inside < block.inside.size() && block.inside[inside].begin == action) {
        const Block &next = block.inside[inside++];
        if (next.loop)
          loop(next, origin, start);
        else
          this->block(next, origin, start);
        action = next.end;
        continue;
      }
      places.push_back({firstBase + action, start, program.actions[action].lane});
      ++action;
    }
  }

  void loop(const Block &loop, std::int64_t origin, std::int64_t &start) {
    const std::uint32_t trips = loop.loop->trips;
    const std::int64_t first = origin + loop.loop->start * kRoom,
                       period = loop.loop->period * kRoom;
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
      if (loop.overSteps && trip > 1 && trip + 1 < trips)
        continue;
      std::int64_t own = first + trip * period;
      block(loop, own, own);
    }
    start = first + trips * period;
  }

  const Program &program;
  const std::uint32_t firstBase;
};

/// later - earlier >= least
struct Edge {
  std::uint32_t earlier, later;
  std::int64_t least;
};

using Meeting = std::tuple<bool, std::uint32_t, std::uint32_t, Flow, std::uint64_t>;

Meeting meetingOf(const Plan &plan, std::uint32_t rank, const Lane &lane, std::uint64_t index) {
  if (lane.kind == LaneKind::Group)
    return {true, lane.group, memberRank(plan.mesh, rank, plan.groups[lane.group], 0), Flow(),
            index};
  const std::uint32_t peer = resolvePeer(plan.mesh, rank, lane.peer);
  return lane.kind == LaneKind::Send ? Meeting(false, rank, peer, lane.flow, index)
                                     : Meeting(false, peer, rank, lane.flow, index);
}

class Unknowns {
public:
  explicit Unknowns(const Plan &plan) {
    std::uint32_t count = 0;
    for (const Program &program : plan.programs) {
      first.push_back(count);
      count += static_cast<std::uint32_t>(program.actions.size());
    }
    bases.assign(count, 0);
    std::map<Meeting, Place> met;
    for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank)
      add(plan, rank, met);
  }

  bool solve() {
    constexpr int kRounds = 400;
    for (int round = 0; round < kRounds; ++round) {
      bool moved = false;
      for (const Edge &edge : edges)
        if (bases[edge.later] < bases[edge.earlier] + edge.least) {
          bases[edge.later] = bases[edge.earlier] + edge.least;
          moved = true;
        }
      if (!moved)
        return true;
    }
    return false;
  }

  std::vector<std::uint32_t> first; // of each program
  std::vector<std::int64_t> bases;

private:
  void add(const Plan &plan, std::uint32_t rank, std::map<Meeting, Place> &met) {
    const Program &program = *programOf(plan, rank);
    const Walk walk(program, first[plan.programOf[rank]]);
    std::vector<std::uint64_t> counts(program.lanes.size(), 0);
    const Place *before = nullptr;
    for (const Place &place : walk.places) {
      if (before)
        edges.push_back({before->base, place.base, before->offset - place.offset + 1});
      before = &place;
      const Lane &lane = program.lanes[place.lane];
      if (lane.kind != LaneKind::Group && lane.kind != LaneKind::Send &&
          lane.kind != LaneKind::Receive)
        continue;
      const auto [other, isFirst] =
          met.try_emplace(meetingOf(plan, rank, lane, counts[place.lane]++), place);
      if (isFirst)
        continue;
      const std::int64_t apart = other->second.offset - place.offset;
      edges.push_back({other->second.base, place.base, apart});
      edges.push_back({place.base, other->second.base, -apart});
    }
  }

  std::vector<Edge> edges;
};

} // namespace

bool reclock(Plan &plan) {
  if (!checkPlan(plan).ok())
    return false; // loops that lead nowhere
  Unknowns unknowns(plan);
  if (!unknowns.solve())
    return false;
  for (std::size_t index = 0; index < plan.programs.size(); ++index) {
    Program &program = plan.programs[index];
    for (std::size_t action = 0; action < program.actions.size(); ++action)
      program.actions[action].time =
          static_cast<std::int32_t>(unknowns.bases[unknowns.first[index] + action]);
    for (Loop &loop : program.loops) {
      loop.start *= kRoom;
      loop.period *= kRoom;
    }
  }
  return true;
}

} // namespace vime
