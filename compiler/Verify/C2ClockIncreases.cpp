// C2: the logical clock is a certificate that nobody waits in a circle: times increase along each
// rank's dispatch order, both ends of a transfer and all members of a call have one time, and waits
// reach back (their encoding allows nothing else).
//
// A loop over steps has one trip count and one period on all ranks. Times of its body ascend and
// span less than the period, so they ascend in every iteration; equal times of two ends in the
// first iteration are equal in all. As a second way that looks at no time, the graph itself is run
// (WaitCycle.h): one iteration of each segment suffices, since no message leaves its iteration
// (C1), so edges between iterations only go forward.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "compiler/Verify/WaitCycle.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

bool loopsAgree(const ActionTable &table, Verdict &verdict) {
  const auto loops = [](const RankView &rank) {
    std::string text;
    for (const Segment &segment : rank.segments)
      if (segment.isLoop())
        text += fmt::format("{}loop {} × {} with period {}", text.empty() ? "" : ", ", segment.loop,
                            segment.trips, segment.period);
    return text.empty() ? "no loop" : text;
  };
  const std::string first = loops(table.ranks().front());
  for (const RankView &rank : table.ranks())
    if (const std::string own = loops(rank); own != first) {
      verdict.error(Rule::C2, 1,
                    fmt::format("rank 0 runs {}, rank {} runs {}", first, rank.rank, own));
      return false;
    }
  return true;
}

void contradict(const ActionTable &table, Verdict &verdict, int number, std::string message,
                const RankView &rank, std::uint32_t from, const RankView &other, std::uint32_t to) {
  const ActionPlace end = placeOf(table, other, to);
  Finding &finding = verdict.error(Rule::C2, number, end, std::move(message));
  verdict.from(finding, placeOf(table, rank, from));
  verdict.to(finding, end);
}

/// Times of all entries in the order of ActionTable::dispatched(), so that two ends are compared
/// side by side.
using Times = std::vector<std::int64_t>;

/// Time that the trips left out in front of an entry take.
std::int64_t hiddenBefore(const ActionTable &table, const RankView &rank, std::uint32_t entry) {
  return rank.pieces[table[entry].piece].hidden;
}

/// Ascending bases within a segment. What is left out of a loop stands in front of what comes
/// behind it, up to the next loop, whose start is known. `next`: where each lane goes on in
/// `times`.
void judgeSegment(const ActionTable &table, const RankView &rank, const Segment &segment,
                  std::span<std::uint32_t> next, Times &times, Verdict &verdict) {
  if (segment.first == segment.end)
    return;
  const std::int64_t first = table.time(rank, segment.first);
  std::int64_t before = first - 1, hidden = 0;
  for (std::uint32_t entry = segment.first; entry < segment.end; ++entry) {
    const std::int64_t time = table.time(rank, entry);
    const std::int64_t now = hiddenBefore(table, rank, entry);
    before += std::max<std::int64_t>(hidden - now, 0);
    hidden = now;
    if (time <= before)
      contradict(table, verdict, 2,
                 fmt::format("rank {} dispatches an action at time {} after one at time {}",
                             rank.rank, time, before),
                 rank, entry - 1, rank, entry);
    times[next[table.action(rank, entry).lane]++] = before = time;
  }
  const std::int64_t span = before - first + hidden;
  if (segment.trips > 1 && span >= segment.period)
    contradict(table, verdict, 3,
               fmt::format("the body of loop {} spans {} ticks on rank {}, its period is {}",
                           segment.loop, span, rank.rank, segment.period),
               rank, segment.end - 1, rank, segment.first);
}

void judgeRank(const ActionTable &table, const RankView &rank, Times &times, Verdict &verdict) {
  std::array<std::uint32_t, Wait::kMaxLanes> next{};
  for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane)
    next[lane] = table.lane(rank, lane).first;
  for (const Segment &segment : rank.segments)
    judgeSegment(table, rank, segment, next, times, verdict);
}

/// Each segment starts behind the last iteration of the one before.
void judgeOrder(const ActionTable &table, const RankView &rank, Verdict &verdict) {
  const Segment *before = nullptr;
  for (const Segment &segment : rank.segments) {
    if (segment.first == segment.end)
      continue;
    if (before) {
      const std::int64_t last = table.time(rank, before->end - 1) +
                                hiddenBefore(table, rank, before->end - 1) +
                                static_cast<std::int64_t>(before->trips - 1) * before->period;
      const std::int64_t next = table.time(rank, segment.first);
      if (next <= last)
        contradict(
            table, verdict, 4,
            fmt::format("rank {} enters the next segment at time {}, the one before ends at {}",
                        rank.rank, next, last),
            rank, before->end - 1, rank, segment.first);
    }
    before = &segment;
  }
}

/// Whether what is left out of loops lies in front of both ends or behind both. Where one of them
/// stands in such a loop, the other one is near (LongLoops.h).
bool isLeftOutAlike(const ActionTable &table, const RankView &rank, std::uint32_t entry,
                    const RankView &peer, std::uint32_t met) {
  const Piece &here = rank.pieces[table[entry].piece], &there = peer.pieces[table[met].piece];
  return here.isShortened || there.isShortened || here.hidden == there.hidden;
}

/// One time at both ends; what follows a first difference would only repeat it.
void judgeMeeting(const ActionTable &table, const Times &times, const LaneView &one,
                  const LaneView &other, int number, Verdict &verdict) {
  const RankView &rank = table.ranks()[one.rank], &peer = table.ranks()[other.rank];
  const auto mine = table.dispatched(one), its = table.dispatched(other);
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const std::int64_t here = times[one.first + k], there = times[other.first + k];
    if (here == there && isLeftOutAlike(table, rank, mine[k], peer, its[k]))
      continue;
    const std::string what = fmt::format("{} {} of {}", number == 5 ? "message" : "call", k,
                                         describeLane(table.plan(), one.rank, one.lane));
    contradict(table, verdict, number,
               fmt::format("{} has time {} on rank {} and time {} on rank {}", what, here,
                           rank.rank, there, peer.rank),
               rank, mine[k], peer, its[k]);
    return;
  }
}

/// Whether everything that meets is matched.
bool judgeMeetings(const ActionTable &table, const Times &times, Verdict &verdict) {
  bool all = true;
  for (const Channel &channel : table.channels()) {
    all = all && channel.matched;
    if (channel.matched)
      judgeMeeting(table, times, table.lanes()[channel.sendLanes[0]],
                   table.lanes()[channel.receiveLanes[0]], 5, verdict);
  }
  for (std::size_t index = 0; index < table.groups().size(); ++index) {
    const GroupView &group = table.groups()[index];
    const bool unused = std::all_of(group.lanes.begin(), group.lanes.end(),
                                    [](std::uint32_t lane) { return lane == kNone; });
    all = all && (group.matched || unused);
    if (group.matched)
      for (const std::uint32_t lane : group.lanes)
        judgeMeeting(table, times, table.lanes()[table.lanes()[lane].partner], table.lanes()[lane],
                     6, verdict);
  }
  return all;
}

void judgeGraph(const ActionTable &table, Verdict &verdict) {
  const std::vector<Standstill> cycle = findWaitCycle(table);
  if (cycle.empty())
    return;
  const RankView &first = table.ranks()[cycle.front().rank];
  Finding &finding =
      verdict.error(Rule::C2, 7, placeOf(table, first, cycle.front().blocked),
                    fmt::format("{} ranks wait for each other in a circle", cycle.size()));
  for (const Standstill &one : cycle) {
    const ActionPlace here = placeOf(table, table.ranks()[one.rank], one.blocked);
    std::string text = fmt::format("rank {} stops at action {}, {}; it needs ", here.rank,
                                   here.action, verdict.words(here));
    const ActionPlace there = placeOf(table, table.ranks()[one.neededRank], one.needed);
    finding.note(text + fmt::format("action {} of rank {}, {}", there.action, there.rank,
                                    verdict.words(there)));
  }
}

} // namespace

void verifyClockIncreases(const ActionTable &table, Verdict &verdict) {
  Times times(table.size());
  for (const RankView &rank : table.ranks()) {
    judgeRank(table, rank, times, verdict);
    judgeOrder(table, rank, verdict);
  }
  if (loopsAgree(table, verdict) && judgeMeetings(table, times, verdict))
    judgeGraph(table, verdict);
}

} // namespace vime::verify
