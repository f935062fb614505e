#include "compiler/Analysis/AlignClocks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/Analysis/TracedSteps.h"

namespace vime {

using trace::RankTrace;
using trace::TracedAction;
using verify::ActionTable;

namespace {

/// From one clock to another: `slope` · time + `offset`.
struct ClockLine {
  double slope = 1, offset = 0;
  double of(double time) const { return slope * time + offset; }
  ClockLine inverse() const { return {1 / slope, -offset / slope}; }
  /// First the other one, then this one.
  ClockLine after(const ClockLine &other) const {
    return {slope * other.slope, slope * other.offset + offset};
  }
};

/// How much later than it was posted a message seemed to arrive, at least, in a part of the trace.
struct Soonest {
  double delay = 0, when = 0;
  bool known = false;
  void see(double observed, double time) {
    if (!known || observed < delay)
      *this = {observed, time, true};
  }
};

/// Early and late, there and back.
struct PairDelays {
  Soonest there[2], back[2];
};

/// From the clock of the lower rank to that of the higher one.
std::optional<ClockLine> lineOf(const PairDelays &delays) {
  double offsets[2], times[2];
  for (int half = 0; half < 2; ++half) {
    const Soonest &there = delays.there[half], &back = delays.back[half];
    if (!there.known || !back.known)
      return std::nullopt;
    offsets[half] = (there.delay - back.delay) / 2;
    times[half] = (there.when + back.when) / 2;
  }
  const double apart = times[1] - times[0];
  const double drift = apart > 0 ? (offsets[1] - offsets[0]) / apart : 0;
  return ClockLine{1 + drift, offsets[0] - drift * times[0]};
}

/// The clocks say the same: both tie it to the wall clock alike.
bool shareClock(const RankTrace &one, const RankTrace &other) {
  const std::int64_t difference =
      (one.startedWall - one.startedAt) - (other.startedWall - other.startedAt);
  return -1'000'000 < difference && difference < 1'000'000;
}

/// What the messages of each pair of ranks, the lower one first, seem to take.
std::map<std::pair<std::size_t, std::size_t>, PairDelays>
delaysOf(const ActionTable &table, const std::vector<RankTrace> &traces) {
  std::map<std::pair<std::size_t, std::size_t>, PairDelays> pairs;
  const std::vector<Transfer> transfers = transfersOf(table);
  const std::vector<std::uint32_t> steps = stepsOf(traces.front());
  for (std::size_t place = 0; place < steps.size(); ++place) {
    const TracedStep step = stepOf(table, traces, steps[place]);
    if (step.empty())
      continue;
    for (std::size_t index = 0; index < transfers.size(); ++index) {
      const Transfer &transfer = transfers[index];
      const TracedAction &send = tracedAt(table, step, transfer.source, transfer.send);
      const TracedAction &receive = tracedAt(table, step, transfer.destination, transfer.receive);
      if (receive.end == 0 || receive.awaited == 0)
        continue;
      const bool isThere = transfer.source < transfer.destination;
      PairDelays &pair = pairs[std::minmax(transfer.source, transfer.destination)];
      const std::size_t half = 2 * place >= steps.size() ? 1 : 0;
      (isThere ? pair.there : pair.back)[half].see(
          static_cast<double>(receive.end - send.posted),
          static_cast<double>(isThere ? send.posted : receive.end));
    }
  }
  return pairs;
}

void apply(const ClockLine &line, RankTrace &trace) {
  for (TracedAction &action : trace.actions)
    for (std::int64_t *time : {&action.posted, &action.begin, &action.end})
      if (*time != 0)
        *time = static_cast<std::int64_t>(line.of(static_cast<double>(*time)));
}

} // namespace

void alignClocks(const ActionTable &table, std::vector<RankTrace> &traces) {
  if (std::all_of(traces.begin(), traces.end(),
                  [&](const RankTrace &trace) { return shareClock(traces.front(), trace); }))
    return;
  const auto pairs = delaysOf(table, traces);
  std::vector<std::optional<ClockLine>> toFirst(traces.size()); // from each rank's own clock
  toFirst[0] = ClockLine{};
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (const auto &[ranks, delays] : pairs) {
      const auto [low, high] = ranks;
      const std::optional<ClockLine> line = lineOf(delays);
      if (!line || toFirst[low].has_value() == toFirst[high].has_value())
        continue;
      if (toFirst[low])
        toFirst[high] = toFirst[low]->after(line->inverse());
      else
        toFirst[low] = toFirst[high]->after(*line);
      goesOn = true;
    }
  }
  for (std::size_t rank = 0; rank < traces.size(); ++rank)
    if (toFirst[rank])
      apply(*toFirst[rank], traces[rank]);
}

} // namespace vime
