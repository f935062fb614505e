#include "compiler/Analysis/Slack.h"

#include <algorithm>
#include <limits>

#include "compiler/Analysis/Meetings.h"
#include "compiler/Analysis/StepBody.h"
#include "compiler/Analysis/StepMeetings.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;

namespace {

constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kMostRounds = 8; // steps ahead, after which hardly anything changes

/// The latest times that the actions of a step may have: posted, and ended.
struct Limits {
  explicit Limits(std::size_t size) : posted(size, kAnyTime), end(size, kAnyTime) {}
  bool operator==(const Limits &) const = default;
  void meet(const Limits &other, std::int64_t later) {
    for (std::size_t entry = 0; entry < end.size(); ++entry) {
      posted[entry] = std::min(posted[entry], other.posted[entry] + later);
      end[entry] = std::min(end[entry], other.end[entry] + later);
    }
  }
  std::vector<std::int64_t> posted, end;
};

void lower(std::int64_t &limit, std::int64_t time) { limit = std::min(limit, time); }

/// Passes on, from the last action to the first one, when each may end at the latest.
class Backwards {
public:
  Backwards(const ActionTable &table, const Durations &durations, const Simulated &run)
      : table(table), durations(durations), run(run), meetings(table, run), isQuiet(table.size()) {
    for (const RankView &rank : table.ranks())
      for (const std::uint32_t entry : rank.quiet)
        isQuiet[entry] = true;
    for (const verify::LaneView &lane : table.lanes()) {
      const auto all = table.dispatched(lane);
      const auto [begin, end] = stepEntriesOf(table.ranks()[lane.rank]);
      const auto first = std::lower_bound(all.begin(), all.end(), begin);
      steps.push_back({first, std::lower_bound(first, all.end(), end)});
    }
  }

  std::vector<std::int64_t> slack() {
    Limits behind(table.size()); // of the step after: what it wants of this one
    for (int round = 0; round < kMostRounds; ++round) {
      Limits before = pass(behind);
      if (run.steps < 2 || before == behind)
        break;
      behind = std::move(before);
    }
    std::vector<std::int64_t> slack(table.size(), kNoSlack);
    for (const std::uint32_t entry : run.sequence)
      slack[entry] = std::max<std::int64_t>(0, latest.end[entry] - run.times[entry].end);
    return slack;
  }

private:
  /// What this step wants of the one before it.
  Limits pass(const Limits &behind) {
    latest = Limits(table.size());
    before = Limits(table.size());
    for (const std::uint32_t entry : run.sequence)
      latest.end[entry] = run.stepEnd;
    latest.meet(behind, run.period);
    met.assign(meetings.size(), kAnyTime);
    left.clear();
    for (const auto &calls : steps)
      left.push_back(calls.size());
    for (std::size_t place = run.sequence.size(); place-- > 0;)
      pass(run.sequence[place]);
    return std::move(before);
  }

  void pass(std::uint32_t entry) {
    const RankView &rank = table.rankOf(entry);
    const Action &action = table.action(rank, entry);
    const std::uint32_t lane = rank.firstLane + action.lane;
    const LaneKind kind = rank.program->lanes[action.lane].kind;
    const ActionTimes &times = run.times[entry];
    --left[lane]; // now those that were dispatched before it
    if (runsOnDispatcher(kind))
      lower(latest.posted[entry], latest.end[entry] - (times.end - times.posted));
    else if (kind == LaneKind::Host || kind == LaneKind::Io)
      passWorker(lane, entry);
    else if (meetings.indexOf(entry) != kNone)
      passMeeting(entry);
    passPosting(rank, entry, action);
  }

  /// A worker does one thing after the other.
  void passWorker(std::uint32_t lane, std::uint32_t entry) {
    const std::int64_t begin = latest.end[entry] - (run.times[entry].end - run.times[entry].begin);
    lower(latest.posted[entry], begin);
    limitEnd(lane, static_cast<std::ptrdiff_t>(left[lane]) - 1, begin);
  }

  void passMeeting(std::uint32_t entry) {
    const std::uint32_t index = meetings.indexOf(entry);
    const StepMeeting &meeting = meetings[index];
    const auto begins = [&](std::uint32_t party) {
      return latest.end[party] - (run.times[party].end - run.times[party].begin);
    };
    if (meeting.root != kNone && entry != meeting.root) // a member waits for the root alone
      return lower(latest.posted[entry], std::min(begins(entry), begins(meeting.root)));
    if (met[index] == kAnyTime) { // it came last
      for (const std::uint32_t party : meetings.entriesOf(meeting))
        lower(met[index], begins(party));
      if (meeting.isTransfer && meeting.linkBefore != kNone)
        passLink(meeting, met[index]);
    }
    lower(latest.posted[entry], met[index]);
  }

  /// Whose message the link carried before.
  void passLink(const StepMeeting &meeting, std::int64_t begin) {
    const StepMeeting &earlier = meetings[meeting.linkBefore];
    if (meeting.isFirstOnLink && run.steps < 2)
      return;
    const std::uint32_t sends = meetings.entriesOf(earlier)[0];
    const RankView &sender = table.rankOf(sends);
    const RankView &receiver = table.rankOf(meetings.entriesOf(earlier)[1]);
    const Message &message = sender.program->lanes[table.action(sender, sends).lane].message;
    const std::int64_t carried =
        wireTime(durations.link(sender.rank, receiver.rank), bytesOf(table.plan(), message));
    if (carried == 0)
      return; // it holds up nobody
    const std::int64_t arrives = begin - carried + (run.times[sends].end - run.times[sends].begin);
    for (const std::uint32_t party : meetings.entriesOf(earlier))
      lower(meeting.isFirstOnLink ? before.end[party] : latest.end[party], arrives);
  }

  /// What its rank had to come to first.
  void passPosting(const RankView &rank, std::uint32_t entry, const Action &action) {
    const std::int64_t time = latest.posted[entry];
    const auto [first, end] = stepEntriesOf(rank);
    const bool isFirst = entry == first;
    if (!isFirst || run.steps > 1) {
      const std::uint32_t previous = (isFirst ? end : entry) - 1;
      passDispatch(rank, previous, isFirst ? before : latest, time);
      if (isQuiet[previous])
        for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane)
          limitEnd(rank.firstLane + lane,
                   static_cast<std::ptrdiff_t>(left[rank.firstLane + lane]) - 1, time);
    }
    for (const Wait wait : action.waits) {
      if (wait.empty())
        break;
      const std::uint32_t lane = rank.firstLane + static_cast<std::uint32_t>(wait.lane());
      limitEnd(lane, static_cast<std::ptrdiff_t>(left[lane]) - wait.distance(), time);
    }
  }

  void passDispatch(const RankView &rank, std::uint32_t previous, Limits &limits,
                    std::int64_t time) {
    const Action &action = table.action(rank, previous);
    if (runsOnDispatcher(rank.program->lanes[action.lane].kind) ||
        (action.flags & kHostBlocking) != 0)
      lower(limits.end[previous], time);
    else
      lower(limits.posted[previous], time - durations.dispatch);
  }

  /// Of the lane's call of that place in the step; a negative one is of the step before.
  void limitEnd(std::uint32_t lane, std::ptrdiff_t place, std::int64_t time) {
    const auto calls = steps[lane];
    if (place >= 0)
      lower(latest.end[calls[static_cast<std::size_t>(place)]], time);
    else if (place += static_cast<std::ptrdiff_t>(calls.size()); place >= 0 && run.steps > 1)
      lower(before.end[calls[static_cast<std::size_t>(place)]], time);
  }

  const ActionTable &table;
  const Durations &durations;
  const Simulated &run;
  const StepMeetings meetings;
  std::vector<bool> isQuiet;
  std::vector<std::span<const std::uint32_t>> steps; // by lane of the table: its calls in a step
  std::vector<std::size_t> left;                     // of them, those before the present entry
  std::vector<std::int64_t> met;                     // by meeting: when it may begin at the latest
  Limits latest{0}, before{0};
};

} // namespace

std::vector<std::int64_t> slackOf(const ActionTable &table, const Durations &durations,
                                  const Simulated &run) {
  return run.sequence.empty() ? std::vector<std::int64_t>(table.size(), kNoSlack)
                              : Backwards(table, durations, run).slack();
}

} // namespace vime
