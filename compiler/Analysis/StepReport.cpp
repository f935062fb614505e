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
  IdleOfRank(const ActionTable &table, const Simulated &run, const RankView &rank)
      : table(table), run(run), rank(rank), body(bodyOf(rank)), freeSince(lastEnd() - run.period),
        lastTask(findLastTask()) {}

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
      idle.coolDown += cool;
      idle.warmUp += gap - cool;
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
  std::int64_t freeSince;
  const std::uint32_t lastTask;
  bool seenTask = false;
  IdleTime idle;
};

/// Whoever has less to do waits for the busiest, in any order.
void moveImbalance(std::vector<RankReport> &ranks) {
  std::int64_t most = 0;
  for (const RankReport &rank : ranks)
    most = std::max(most, rank.busy);
  for (RankReport &rank : ranks) {
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

IdleTime sumOf(const StepReport &report) {
  IdleTime sum;
  for (const RankReport &rank : report.ranks) {
    sum.warmUp += rank.idle.warmUp;
    sum.dependence += rank.idle.dependence;
    sum.communication += rank.idle.communication;
    sum.imbalance += rank.idle.imbalance;
    sum.coolDown += rank.idle.coolDown;
  }
  return sum;
}

StepReport reportOf(const ActionTable &table, const Simulated &run) {
  StepReport report;
  report.period = run.period;
  std::int64_t idle = 0;
  for (std::size_t rank = 0; rank < table.ranks().size(); ++rank) {
    const RankView &view = table.ranks()[rank];
    report.ranks.push_back({view.rank, run.ranks[rank].busy, IdleOfRank(table, run, view).split()});
    idle += report.ranks.back().idle.all();
  }
  moveImbalance(report.ranks);
  if (run.period != 0)
    report.bubble = static_cast<double>(idle) /
                    (static_cast<double>(run.period) * static_cast<double>(report.ranks.size()));
  report.path = criticalPath(table, run);
  return report;
}

} // namespace vime
