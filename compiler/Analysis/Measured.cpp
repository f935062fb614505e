#include "compiler/Analysis/Measured.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/Analysis/Meetings.h"
#include "compiler/Analysis/StepBody.h"

namespace vime {

using namespace plan;
using trace::RankTrace;
using trace::TracedAction;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;

namespace {

/// What the rank came from last: of what it waits for, and what it did before, the one that ended
/// last.
class LastBefore {
public:
  LastBefore(const ActionTable &table, const RankView &rank, const Simulated &run)
      : table(table), rank(rank), run(run), lanes(rank.program->lanes.size()) {}

  /// The next entry of the body, in their order.
  std::uint32_t of(std::uint32_t entry) {
    std::uint32_t found = lastInline;
    const Action &action = table.action(rank, entry);
    for (const Wait wait : action.waits) {
      if (wait.empty())
        break;
      const auto &lane = lanes[static_cast<std::size_t>(wait.lane())];
      const auto distance = static_cast<std::size_t>(wait.distance());
      if (distance > lane.size())
        continue;
      const std::uint32_t other = lane[lane.size() - distance];
      if (found == kNone || run.times[other].end > run.times[found].end)
        found = other;
    }
    lanes[action.lane].push_back(entry);
    if (runsOnDispatcher(rank.program->lanes[action.lane].kind) || (action.flags & kHostBlocking))
      lastInline = entry;
    return found;
  }

private:
  const ActionTable &table;
  const RankView &rank;
  const Simulated &run;
  std::vector<std::vector<std::uint32_t>> lanes;
  std::uint32_t lastInline = kNone;
};

/// When a transfer ended: as the first of its ranks saw it, if that one waited for it. Else it was
/// there before anybody looked, and held nobody up.
std::int64_t endOf(const TracedAction &send, const TracedAction &receive, std::int64_t ready) {
  const bool sendWasFirst = receive.end == 0 || (send.end != 0 && send.end < receive.end);
  const TracedAction &first = sendWasFirst ? send : receive;
  return first.awaited ? std::max(ready, first.end) : ready;
}

/// Both ends of a transfer are one: it was ready when the later one was posted.
void joinTransfers(const ActionTable &table, const TracedStep &step, Simulated &run) {
  for (const Transfer &transfer : transfersOf(table)) {
    ActionTimes &send = run.times[transfer.send], &receive = run.times[transfer.receive];
    const std::int64_t ready = std::max(send.posted, receive.posted);
    const std::int64_t end =
        endOf(tracedAt(table, step, transfer.source, transfer.send),
              tracedAt(table, step, transfer.destination, transfer.receive), ready);
    for (ActionTimes *times : {&send, &receive}) {
      times->ready = times->begin = ready;
      times->end = end;
      times->readyBehind = send.posted > receive.posted ? transfer.send : transfer.receive;
    }
    send.peer = transfer.receive;
    receive.peer = transfer.send;
  }
}

/// All members of a group have come when the last one has.
void joinGroups(const ActionTable &table, Simulated &run) {
  for (const verify::GroupView &group : table.groups()) {
    if (!group.matched)
      continue;
    std::vector<std::vector<std::uint32_t>> calls;
    for (const std::uint32_t lane : group.lanes) {
      const verify::LaneView &view = table.lanes()[lane];
      const verify::Segment *body = stepBodyOf(table.ranks()[view.rank]);
      calls.emplace_back();
      for (const std::uint32_t entry : table.dispatched(view))
        if (body && body->first <= entry && entry < body->end)
          calls.back().push_back(entry);
    }
    for (std::size_t call = 0; call < calls.front().size(); ++call) {
      std::uint32_t last = calls.front()[call];
      for (const auto &member : calls)
        if (run.times[member[call]].posted > run.times[last].posted)
          last = member[call];
      for (const auto &member : calls) {
        ActionTimes &times = run.times[member[call]];
        times.ready = times.begin = run.times[last].posted;
        times.end = std::max(times.end, times.begin);
        times.readyBehind = last;
      }
    }
  }
}

/// When the last rank was done with what it does itself. A transfer may be seen to end in the next
/// step only.
std::int64_t endOf(const ActionTable &table, const TracedStep &step) {
  std::int64_t end = 0;
  for (std::size_t place = 0; place < step.size(); ++place) {
    const RankView &rank = table.ranks()[place];
    for (const TracedAction *traced : step[place])
      if (const Action &action = rank.program->actions[traced->action];
          runsOnDispatcher(rank.program->lanes[action.lane].kind))
        end = std::max(end, traced->end);
  }
  return end;
}

} // namespace

Simulated measuredStep(const ActionTable &table, const std::vector<RankTrace> &traces,
                       std::uint32_t number) {
  const TracedStep step = stepOf(table, traces, number);
  Simulated run;
  run.times.resize(table.size());
  run.ranks.resize(table.ranks().size());
  run.stepBegin = std::numeric_limits<std::int64_t>::max();
  for (std::size_t place = 0; place < table.ranks().size(); ++place) {
    const RankView &rank = table.ranks()[place];
    const verify::Segment &body = *stepBodyOf(rank);
    RankTotals &totals = run.ranks[place];
    totals.begin = step[place].front()->posted;
    for (std::uint32_t entry = body.first; entry < body.end; ++entry) {
      const TracedAction &action = *step[place][entry - body.first];
      run.times[entry] = {.posted = action.posted,
                          .ready = action.posted,
                          .begin = action.begin,
                          .end = action.awaited ? action.end : action.begin};
      totals.end = std::max(totals.end, run.times[entry].end);
      if (runsOnDispatcher(rank.program->lanes[table.action(rank, entry).lane].kind))
        totals.busy += action.end - action.begin;
    }
    run.stepBegin = std::min(run.stepBegin, totals.begin);
  }
  joinTransfers(table, step, run);
  joinGroups(table, run);
  for (const RankView &rank : table.ranks()) {
    LastBefore last(table, rank, run);
    for (std::uint32_t entry = stepBodyOf(rank)->first; entry < stepBodyOf(rank)->end; ++entry)
      run.times[entry].postedBehind = last.of(entry);
  }
  run.stepEnd = endOf(table, step);
  const TracedStep before = number == 0 ? TracedStep{} : stepOf(table, traces, number - 1);
  run.period = before.empty() ? run.stepEnd - run.stepBegin : run.stepEnd - endOf(table, before);
  return run;
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {

/// What a rank did itself in a step, and on its own threads.
class RankObserver {
public:
  RankObserver(const ActionTable &table, const RankView &rank,
               const std::vector<const TracedAction *> &step, ObservedTimes &observed)
      : table(table), rank(rank), step(step), observed(observed),
        laneEnds(rank.program->lanes.size(), 0) {}

  void run() {
    const verify::Segment &body = *stepBodyOf(rank);
    for (std::uint32_t entry = body.first; entry < body.end; ++entry)
      look(table.action(rank, entry), *step[entry - body.first]);
    for (const auto &[key, sum] : stages)
      observed.stages[key].push_back(sum.mean());
    for (const auto &[opcode, sum] : ranks)
      observed.ranks[opcode].push_back(sum.mean());
  }

private:
  struct Sum {
    std::int64_t time = 0, count = 0;
    void add(std::int64_t lasted) {
      time += std::max<std::int64_t>(0, lasted);
      ++count;
    }
    std::int64_t mean() const { return time / count; }
  };

  void look(const Action &action, const TracedAction &traced) {
    const LaneKind kind = rank.program->lanes[action.lane].kind;
    if (before != 0 && action.waits[0].empty())
      observed.dispatch.push_back(traced.posted - before);
    if (runsOnDispatcher(kind)) {
      add(action, traced.end - traced.begin);
      before = traced.end;
      return;
    }
    before = (action.flags & kHostBlocking) != 0 ? 0 : traced.posted;
    if ((kind == LaneKind::Host || kind == LaneKind::Io) && traced.awaited != 0)
      add(action, traced.end - std::max(traced.posted, laneEnds[action.lane]));
    laneEnds[action.lane] = traced.end;
  }

  void add(const Action &action, std::int64_t lasted) {
    const auto opcode = static_cast<Opcode>(action.opcode);
    if (findSignature(action.opcode)->perStage)
      stages[{rank.stages[action.stage], opcode}].add(lasted);
    else if (opcode == Opcode::Generate)
      observed.generation[rank.rank - table.plan().mesh.trainers()].push_back(lasted);
    else
      ranks[opcode].add(lasted);
  }

  const ActionTable &table;
  const RankView &rank;
  const std::vector<const TracedAction *> &step;
  ObservedTimes &observed;
  std::map<std::pair<std::uint32_t, Opcode>, Sum> stages;
  std::map<Opcode, Sum> ranks;
  std::vector<std::int64_t> laneEnds;
  std::int64_t before = 0; // when the action before was done with the dispatcher; 0: nobody knows
};

void observeMessages(const ActionTable &table, const std::vector<Transfer> &transfers,
                     const TracedStep &step, ObservedTimes &observed) {
  for (const Transfer &transfer : transfers) {
    const TracedAction &send = tracedAt(table, step, transfer.source, transfer.send);
    const TracedAction &receive = tracedAt(table, step, transfer.destination, transfer.receive);
    const std::int64_t ready = std::max(send.posted, receive.posted);
    const std::int64_t end = endOf(send, receive, ready);
    if (end == ready)
      continue; // nobody knows
    const RankView &source = table.ranks()[transfer.source];
    const Lane &lane = source.program->lanes[table.action(source, transfer.send).lane];
    const bool isBoundary = lane.flow == Flow::Forward || lane.flow == Flow::Backward;
    (isBoundary ? observed.boundaries : observed.messages)[bytesOf(table.plan(), lane.message)]
        .push_back(end - ready);
  }
}

std::vector<std::int64_t> together(const std::map<std::uint64_t, std::vector<std::int64_t>> &all) {
  std::vector<std::int64_t> values;
  for (const auto &[bytes, times] : all)
    values.insert(values.end(), times.begin(), times.end());
  return values;
}

} // namespace

ObservedTimes observedTimes(const ActionTable &table, const std::vector<RankTrace> &traces) {
  ObservedTimes observed;
  observed.generation.resize(table.plan().mesh.engines);
  const std::vector<Transfer> transfers = transfersOf(table);
  for (const std::uint32_t number : stepsOf(traces.front())) {
    const TracedStep step = stepOf(table, traces, number);
    if (step.empty())
      continue;
    for (std::size_t place = 0; place < table.ranks().size(); ++place)
      RankObserver(table, table.ranks()[place], step[place], observed).run();
    observeMessages(table, transfers, step, observed);
  }
  return observed;
}

Durations measuredDurations(const ActionTable &table, const std::vector<RankTrace> &traces) {
  const ObservedTimes observed = observedTimes(table, traces);
  Durations durations;
  durations.stages.resize(table.stages().size());
  for (const auto &[key, lasted] : observed.stages)
    durations.stages[key.first][key.second] = median(lasted);
  for (const auto &[opcode, lasted] : observed.ranks)
    durations.ofRank[opcode] = median(lasted);
  for (const auto &lasted : observed.generation)
    durations.generation.push_back(median(lasted));
  durations.near.latency = durations.far.latency = median(together(observed.messages));
  durations.boundaryLatency =
      std::max<std::int64_t>(0, median(together(observed.boundaries)) - durations.near.latency);
  return durations;
}

} // namespace vime
