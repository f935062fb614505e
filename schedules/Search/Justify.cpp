// Justify: list scheduling to and fro.
#include "schedules/Search/Justify.h"

#include <algorithm>
#include <tuple>

namespace vime {

bool isBetter(const Timing &left, const Timing &right) {
  return std::tie(left.makespan, left.span, left.spans) <
         std::tie(right.makespan, right.span, right.spans);
}

Attempt Justifier::improved(Urgency urgency, Ends ends, std::int64_t hopeless) const {
  constexpr int kRounds = 3;
  Attempt best{listScheduled(flow, urgency), urgency};
  int runs = 1;
  for (int round = 0; round < kRounds && best.timing.makespan <= hopeless; ++round) {
    Urgency back = urgency;
    back.keys = mirrored(flow, best.timing).start;
    if (ends == Ends::Staggered)
      back.notBefore = staggered(best.timing);
    urgency.keys = mirrored(backwards, listScheduled(backwards, back)).start;
    Timing timing = listScheduled(flow, urgency);
    runs += 2;
    if (!isBetter(timing, best.timing))
      break;
    best = {std::move(timing), urgency};
  }
  best.runs = runs;
  return best;
}

// Per rank, how long before the end of all it must have ended for a span half as far from the
// least as the longest one is.
std::vector<std::int64_t> Justifier::staggered(const Timing &timing) const {
  const auto ranks = static_cast<std::size_t>(flow.ranks);
  std::vector<std::int64_t> busy(ranks), first(ranks, kForever), notBefore(ranks);
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass) {
    const auto rank = static_cast<std::size_t>(flow.passes[pass].rank);
    busy[rank] += flow.passes[pass].duration * flow.microbatches;
    first[rank] = std::min(first[rank], timing.start[flow.at(pass, 0)]);
  }
  const std::int64_t least = *std::max_element(busy.begin(), busy.end());
  const std::int64_t wanted = least + (timing.span - least) / 2;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    notBefore[rank] = std::max<std::int64_t>(0, timing.makespan - first[rank] - wanted);
  return notBefore;
}

} // namespace vime
