#include "compiler/Analysis/StepReport.h"

#include <algorithm>
#include <limits>

#include "compiler/Analysis/StepBody.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;

namespace {

/// Entries of the loop over steps; of a plan without one, all.
struct Body {
  std::uint32_t first, end;
};

Body bodyOf(const RankView &rank) {
  const auto [first, end] = stepEntriesOf(rank);
  return {first, end};
}

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;

/// Follows the computing of one rank through a period: from when it was free of the step before,
/// which may be earlier than others were, to when it was free of the last one.
class IdleOfRank {
public:
  /// `trainsFrom`: when the pipeline begins, of a step of a round.
  IdleOfRank(const ActionTable &table, const Simulated &run, const RankView &rank,
             std::int64_t trainsFrom)
      : table(table), run(run), rank(rank), body(bodyOf(rank)), trainsFrom(trainsFrom),
        freeSince(lastEnd() - run.period), lastTask(findLastTask()) {}

  IdleTime split() {
    if (freeSince == kNever) { // it computes nothing
      idle.coolDown = run.period;
      return idle;
    }
    for (std::uint32_t entry = body.first; entry < body.end; ++entry) {
      const ActionTimes &times = run.times[entry];
      if (!computes(entry))
        continue;
      if (times.begin > freeSince)
        attribute(entry, times.begin - freeSince);
      seenTask = seenTask || isTask(table.action(rank, entry));
      freeSince = std::max(freeSince, times.end);
    }
    return idle;
  }

private:
  LaneKind laneKind(std::uint32_t entry) const {
    return rank.program->lanes[table.action(rank, entry).lane].kind;
  }
  bool computes(std::uint32_t entry) const {
    return run.times[entry].end != run.times[entry].begin && runsOnDispatcher(laneKind(entry));
  }
  std::int64_t lastEnd() const {
    for (std::uint32_t entry = body.end; entry > body.first; --entry)
      if (computes(entry - 1))
        return run.times[entry - 1].end;
    return kNever + run.period;
  }
  std::uint32_t findLastTask() const {
    for (std::uint32_t entry = body.end; entry > body.first; --entry)
      if (isTask(table.action(rank, entry - 1)))
        return entry - 1;
    return kNone;
  }

  void attribute(std::uint32_t entry, std::int64_t gap) {
    if (!seenTask) { // what lies before the end of the step before belongs to that one
      const std::int64_t cool =
          std::clamp<std::int64_t>(run.stepEnd - run.period - freeSince, 0, gap);
      const std::int64_t before =
          std::clamp<std::int64_t>(trainsFrom - freeSince - cool, 0, gap - cool);
      idle.coolDown += cool;
      idle.otherRole += before;
      idle.warmUp += gap - cool - before;
    } else if (lastTask != kNone && entry > lastTask) {
      idle.coolDown += gap;
    } else {
      const std::int64_t moved = std::min(gap, onTheWay(run.times[entry].postedBehind));
      idle.communication += moved;
      idle.dependence += gap - moved;
    }
  }

  /// How long that took, from when both ends were there.
  std::int64_t onTheWay(std::uint32_t entry) const {
    return entry == kNone || runsOnDispatcher(laneKind(entry))
               ? 0
               : run.times[entry].end - run.times[entry].ready;
  }

  const ActionTable &table;
  const Simulated &run;
  const RankView &rank;
  const Body body;
  const std::int64_t trainsFrom;
  std::int64_t freeSince;
  const std::uint32_t lastTask;
  bool seenTask = false;
  IdleTime idle;
};

/// Of an engine: while it takes weights, and while others train.
IdleTime idleOfEngine(const ActionTable &table, const Simulated &run, const RankView &rank,
                      std::int64_t busy) {
  std::int64_t paused = kNever, resumed = kNever, busyBetween = 0;
  for (std::uint32_t entry = bodyOf(rank).first; entry < bodyOf(rank).end; ++entry) {
    const ActionTimes &times = run.times[entry];
    const auto opcode = static_cast<Opcode>(table.action(rank, entry).opcode);
    if (opcode == Opcode::Pause)
      paused = times.begin;
    if (paused != kNever && resumed == kNever &&
        runsOnDispatcher(rank.program->lanes[table.action(rank, entry).lane].kind))
      busyBetween += times.end - times.begin;
    if (opcode == Opcode::Resume)
      resumed = times.end;
  }
  IdleTime idle;
  if (paused != kNever && resumed != kNever)
    idle.communication = std::max<std::int64_t>(0, resumed - paused - busyBetween);
  idle.otherRole = std::max<std::int64_t>(0, run.period - busy - idle.communication);
  return idle;
}

/// Whoever has less to do waits for the busiest, in any order.
void moveImbalance(std::vector<RankReport> &ranks) {
  std::int64_t most = 0;
  for (const RankReport &rank : ranks)
    if (!rank.isEngine)
      most = std::max(most, rank.busy);
  for (RankReport &rank : ranks) {
    if (rank.isEngine)
      continue;
    std::int64_t less = most - rank.busy;
    for (std::int64_t *part : {&rank.idle.dependence, &rank.idle.communication}) {
      const std::int64_t moved = std::min(*part, less);
      *part -= moved;
      less -= moved;
      rank.idle.imbalance += moved;
    }
  }
}

std::vector<PathPart> criticalPath(const ActionTable &table, const Simulated &run) {
  std::uint32_t last = kNone;
  for (const RankView &rank : table.ranks())
    for (std::uint32_t entry = bodyOf(rank).first; entry < bodyOf(rank).end; ++entry)
      if (last == kNone || run.times[entry].end > run.times[last].end)
        last = entry;
  std::vector<PathPart> path;
  for (std::uint32_t entry = last; entry != kNone;) {
    const ActionTimes &times = run.times[entry];
    path.push_back({entry, times.begin, times.end});
    if (times.begin > times.ready && times.begunBehind != kNone)
      entry = times.begunBehind;
    else if (times.readyBehind != kNone)
      entry = run.times[times.readyBehind].postedBehind;
    else
      entry = times.postedBehind;
    if (entry != kNone && run.times[entry].begin > times.begin)
      break;            // it was of the step before: a link still carried its message
    if (entry != kNone) // what lies between is its rank's dispatcher
      path.back().from = std::min(path.back().to, run.times[entry].end);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

} // namespace

std::int64_t trainersOf(const StepReport &report) {
  return std::ranges::count(report.ranks, false, &RankReport::isEngine);
}

IdleTime sumOf(const StepReport &report) {
  IdleTime sum;
  for (const RankReport &rank : report.ranks) {
    if (rank.isEngine)
      continue;
    sum.warmUp += rank.idle.warmUp;
    sum.dependence += rank.idle.dependence;
    sum.communication += rank.idle.communication;
    sum.imbalance += rank.idle.imbalance;
    sum.coolDown += rank.idle.coolDown;
    sum.otherRole += rank.idle.otherRole;
  }
  return sum;
}

StepReport reportOf(const ActionTable &table, const Simulated &run) {
  StepReport report;
  report.period = run.period;
  const RolloutMarks marks = rolloutMarksOf(table, run);
  report.rollout = marks.times(run.stepEnd - run.period);
  const std::int64_t trainsFrom = marks.hasLoaded() ? marks.trainsFrom() : kNever;
  for (std::size_t rank = 0; rank < table.ranks().size(); ++rank) {
    const RankView &view = table.ranks()[rank];
    const std::int64_t busy = run.ranks[rank].busy;
    const bool isEngine = table.plan().mesh.isEngine(view.rank);
    report.ranks.push_back({view.rank, isEngine, busy,
                            isEngine ? idleOfEngine(table, run, view, busy)
                                     : IdleOfRank(table, run, view, trainsFrom).split()});
  }
  moveImbalance(report.ranks);
  const IdleTime idle = sumOf(report);
  if (const std::int64_t trains = run.period - report.rollout.all(); trains > 0)
    report.bubble = static_cast<double>(idle.all() - idle.otherRole) /
                    (static_cast<double>(trains) * static_cast<double>(trainersOf(report)));
  report.path = criticalPath(table, run);
  return report;
}

} // namespace vime
