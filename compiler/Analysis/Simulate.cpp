#include "compiler/Analysis/Simulate.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "compiler/Analysis/Meetings.h"
#include "compiler/Analysis/SharedCores.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;
using verify::Segment;

namespace {

struct RankState {
  std::size_t segment = 0;
  std::uint32_t trip = 0;
  std::uint32_t entry = 0;
  std::int64_t clock = 0;          // of its dispatcher
  std::uint32_t heldBy = kNone;    // entry that set the clock
  std::uint32_t blockedOn = kNone; // lane of the table; it waits for one more end there
  std::size_t blockedFor = 0;      // ends of it
  std::size_t quiet = 0;           // next of RankView::quiet
  bool computes = false, drains = false, holds = false, done = false;
};

enum class EventKind : std::uint8_t { Rank, Cores };

struct Event {
  std::int64_t time;
  EventKind kind;
  std::uint32_t index;
  std::uint64_t version;
  auto key() const { return std::tuple(time, kind, index, version); }
  bool operator>(const Event &other) const { return key() > other.key(); }
};

class Engine {
public:
  Engine(const ActionTable &table, const Durations &durations, std::uint32_t steps)
      : table(table), plan(table.plan()), durations(durations), steps(std::max(steps, 1u)),
        lanes(table.lanes().size()), ranks(table.ranks().size()),
        result{.times = std::vector<ActionTimes>(table.size()),
               .ranks = std::vector<RankTotals>(ranks.size())},
        meetings(table, durations, lanes, result.times) {
    if (durations.coresPerNode != 0)
      hosts.assign(durations.nodeOf(static_cast<std::uint32_t>(ranks.size()) - 1) + 1,
                   SharedCores(durations.coresPerNode));
    versions.resize(hosts.size());
  }

  Simulated run() {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      ranks[rank].done = !enterSegment(rank);
      if (!ranks[rank].done)
        wake(rank, 0);
    }
    while (!events.empty()) {
      const Event event = events.top();
      events.pop();
      if (event.kind == EventKind::Rank)
        goOn(event.index, event.time);
      else if (event.version == versions[event.index])
        endOnCores(event.index, event.time);
    }
    return summary();
  }

private:
  // ---- a rank's dispatcher -------------------------------------------------------------------------------------------

  const RankView &view(std::uint32_t rank) const { return table.ranks()[rank]; }
  const Segment &segment(std::uint32_t rank) const {
    return view(rank).segments[ranks[rank].segment];
  }
  std::uint32_t tripsOf(const Segment &segment) const {
    return static_cast<std::uint32_t>(
        segment.isLoop() ? std::min<std::uint64_t>(segment.trips, steps) : 1);
  }
  bool isInLastStep(std::uint32_t rank) const {
    return segment(rank).isLoop() && ranks[rank].trip + 1 == tripsOf(segment(rank));
  }

  /// The next segment that has something to do, from the present one on.
  bool enterSegment(std::uint32_t rank) {
    RankState &state = ranks[rank];
    const auto &segments = view(rank).segments;
    while (state.segment < segments.size() &&
           (segment(rank).first == segment(rank).end || tripsOf(segment(rank)) == 0))
      ++state.segment;
    if (state.segment == segments.size())
      return false;
    beginTrip(rank, 0);
    return true;
  }

  void beginTrip(std::uint32_t rank, std::uint32_t trip) {
    RankState &state = ranks[rank];
    state.trip = trip;
    state.entry = segment(rank).first;
    const auto &quiet = view(rank).quiet;
    state.quiet = static_cast<std::size_t>(
        std::lower_bound(quiet.begin(), quiet.end(), state.entry) - quiet.begin());
    if (segment(rank).isLoop())
      state.heldBy = kNone; // what stands in the step before is not of this one
  }

  void wake(std::uint32_t rank, std::int64_t time) {
    events.push({time, EventKind::Rank, rank, 0});
  }

  void goOn(std::uint32_t rank, std::int64_t now) {
    RankState &state = ranks[rank];
    while (!state.done && !state.computes) {
      if (state.drains && !awaitAllLanes(rank))
        return;
      if (state.holds && !awaitLane(rank, lastLane(rank), lanes[lastLane(rank)].entries.size()))
        return;
      if (state.drains || state.holds) {
        state.drains = state.holds = false;
        advance(rank);
        continue;
      }
      if (!awaitWaits(rank))
        return;
      if (state.clock > now)
        return wake(rank, state.clock);
      state.clock = now;
      dispatch(rank, now);
    }
  }

  std::uint32_t lastLane(std::uint32_t rank) const {
    return view(rank).firstLane + table.action(view(rank), ranks[rank].entry).lane;
  }

  /// Sets the clock to when the lane has so many ends; false if that is not known yet.
  bool awaitLane(std::uint32_t rank, std::uint32_t lane, std::size_t count) {
    RankState &state = ranks[rank];
    if (lanes[lane].ends.size() < count) {
      state.blockedOn = lane;
      state.blockedFor = count;
      return false;
    }
    if (count != 0 && lanes[lane].ends[count - 1] > state.clock) {
      state.clock = lanes[lane].ends[count - 1];
      state.heldBy = lanes[lane].entries[count - 1];
    }
    return true;
  }

  bool awaitAllLanes(std::uint32_t rank) {
    const RankView &own = view(rank);
    for (std::uint32_t lane = 0; lane < own.program->lanes.size(); ++lane)
      if (!awaitLane(rank, own.firstLane + lane, lanes[own.firstLane + lane].entries.size()))
        return false;
    return true;
  }

  bool awaitWaits(std::uint32_t rank) {
    const RankView &own = view(rank);
    for (const Wait wait : table.action(own, ranks[rank].entry).waits) {
      if (wait.empty())
        break;
      const std::uint32_t lane = own.firstLane + static_cast<std::uint32_t>(wait.lane());
      const std::size_t dispatched = lanes[lane].entries.size();
      const auto distance = static_cast<std::size_t>(wait.distance());
      if (distance <= dispatched && !awaitLane(rank, lane, dispatched + 1 - distance))
        return false;
    }
    return true;
  }

  void dispatch(std::uint32_t rank, std::int64_t now) {
    RankState &state = ranks[rank];
    const RankView &own = view(rank);
    const Action &action = table.action(own, state.entry);
    const std::uint32_t lane = own.firstLane + action.lane;
    ActionTimes &times = result.times[state.entry];
    times = {.posted = now, .postedBehind = state.heldBy};
    lanes[lane].entries.push_back(state.entry);
    if (isInLastStep(rank))
      result.sequence.push_back(state.entry);
    const LaneKind kind = own.program->lanes[action.lane].kind;
    if (runsOnDispatcher(kind))
      return compute(rank, durations.dispatch + costOf(own, action), now);
    state.clock = now + durations.dispatch;
    if (durations.dispatch != 0)
      state.heldBy = state.entry;
    if (kind == LaneKind::Host || kind == LaneKind::Io) {
      times.ready = now;
      times.begin = std::max(now, lanes[lane].freeAt);
      lanes[lane].freeAt = times.begin + costOf(own, action);
      times.end = lanes[lane].freeAt;
      endOnLane({lane, state.entry, times.end});
    } else {
      for (const EndOnLane &ended : meetings.come(lane, now))
        endOnLane(ended);
    }
    if (action.flags & kHostBlocking)
      state.holds = true;
    else
      advance(rank);
  }

  std::int64_t costOf(const RankView &own, const Action &action) const {
    const auto opcode = static_cast<Opcode>(action.opcode);
    if (opcode == Opcode::Generate && !durations.generation.empty())
      return durations.generation[own.rank - plan.mesh.trainers()];
    return findSignature(action.opcode)->perStage
               ? durations.stages[own.stages[action.stage]][opcode]
               : durations.ofRank[opcode];
  }

  void compute(std::uint32_t rank, std::int64_t work, std::int64_t now) {
    RankState &state = ranks[rank];
    ActionTimes &times = result.times[state.entry];
    times.ready = times.begin = now;
    if (hosts.empty() || work == 0)
      return endCompute(rank, now + work);
    state.computes = true;
    const std::uint32_t host = durations.nodeOf(rank);
    hosts[host].add(rank, work, now);
    lookAtCores(host);
  }

  void lookAtCores(std::uint32_t host) {
    ++versions[host];
    if (const std::optional<std::int64_t> next = hosts[host].nextEnd())
      events.push({*next, EventKind::Cores, host, versions[host]});
  }

  void endOnCores(std::uint32_t host, std::int64_t now) {
    const std::uint32_t rank = hosts[host].finish(now);
    lookAtCores(host);
    ranks[rank].computes = false;
    endCompute(rank, now);
    goOn(rank, now);
  }

  void endCompute(std::uint32_t rank, std::int64_t end) {
    RankState &state = ranks[rank];
    const std::uint32_t lane = lastLane(rank);
    ActionTimes &times = result.times[state.entry];
    times.end = end;
    lanes[lane].ends.push_back(end);
    if (isInLastStep(rank))
      result.ranks[rank].busy += end - times.begin;
    if (end != state.clock)
      state.heldBy = state.entry;
    state.clock = end;
    advance(rank);
  }

  /// Past the present entry, unless its lanes have to be drained there first.
  void advance(std::uint32_t rank) {
    RankState &state = ranks[rank];
    const auto &quiet = view(rank).quiet;
    if (state.quiet < quiet.size() && quiet[state.quiet] == state.entry) {
      ++state.quiet;
      state.drains = true;
      return;
    }
    if (++state.entry < segment(rank).end)
      return;
    endTrip(rank);
    if (state.trip + 1 < tripsOf(segment(rank)))
      return beginTrip(rank, state.trip + 1);
    ++state.segment;
    state.done = !enterSegment(rank);
  }

  void endTrip(std::uint32_t rank) {
    if (!segment(rank).isLoop())
      return;
    const std::uint32_t trip = ranks[rank].trip;
    if (trip >= tripEnds.size())
      tripEnds.resize(trip + 1, 0);
    tripEnds[trip] = std::max(tripEnds[trip], ranks[rank].clock);
  }

  void endOnLane(const EndOnLane &ended) {
    lanes[ended.lane].ends.push_back(ended.end);
    const std::uint32_t rank = table.lanes()[ended.lane].rank;
    RankState &state = ranks[rank];
    if (state.blockedOn == ended.lane && lanes[ended.lane].ends.size() >= state.blockedFor) {
      state.blockedOn = kNone;
      wake(rank, std::max(ended.end, state.clock));
    }
  }

  // ---- the end -----------------------------------------------------------------------------------------------------------

  Simulated summary() {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      if (!ranks[rank].done && !result.stuck)
        result.stuck = fmt::format("rank {} never passes action {} ({})", view(rank).rank,
                                   table[ranks[rank].entry].action,
                                   describe(plan, view(rank).rank, table[ranks[rank].entry].action,
                                            table[ranks[rank].entry].iteration));
    if (!result.stuck)
      addStep();
    return std::move(result);
  }

  void addStep() {
    result.steps = static_cast<std::uint32_t>(tripEnds.size());
    std::int64_t first = tripEnds.empty() ? 0 : tripEnds.back();
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      for (const Segment &segment : view(rank).segments)
        if (segment.isLoop() && segment.first != segment.end) {
          RankTotals &totals = result.ranks[rank];
          totals.begin = result.times[segment.first].posted;
          for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
            totals.end = std::max(totals.end, result.times[entry].end);
          first = std::min(first, totals.begin);
          result.stepEnd = std::max(result.stepEnd, totals.end);
        }
    result.period = tripEnds.size() > 1 ? tripEnds.back() - tripEnds[tripEnds.size() - 2]
                                        : result.stepEnd - first;
    result.stepBegin = first;
  }

  const ActionTable &table;
  const Plan &plan;
  const Durations &durations;
  const std::uint32_t steps;
  std::vector<LaneQueue> lanes; // of the table
  std::vector<RankState> ranks;
  std::vector<SharedCores> hosts;
  std::vector<std::uint64_t> versions; // of each host's next event
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<std::int64_t> tripEnds; // of the loop over steps: when the last rank ended it
  Simulated result;
  Meetings meetings;
};

} // namespace

verify::Choice steadyStepOf(const plan::Plan &plan) {
  verify::Choice choice = verify::wholeStepOf(plan);
  const auto chooseLeast = [&](std::initializer_list<Decision> decisions) {
    for (const Decision decision : decisions)
      if (const auto values = valuesOf(plan, decision); !values.empty())
        choice.values[static_cast<std::size_t>(decision)] = values.front();
  };
  chooseLeast({Decision::Evaluate, Decision::Save});
  if (isPostValidated(plan))
    chooseLeast({Decision::Settle, Decision::Verdict});
  return choice;
}

verify::Choice stepOf(const plan::Plan &plan, StepKind kind) {
  verify::Choice choice = steadyStepOf(plan);
  const auto choose = [&](Decision decision, std::uint32_t value) {
    if (!valuesOf(plan, decision).empty())
      choice.values[static_cast<std::size_t>(decision)] = value;
  };
  choose(Decision::Rollout, kind.beginsRound ? 1 : 0);
  if (kind.microbatches != 0)
    choose(Decision::Microbatches, kind.microbatches);
  return choice;
}

Simulated simulate(const ActionTable &table, const Durations &durations, std::uint32_t steps) {
  return Engine(table, durations, steps).run();
}

} // namespace vime
