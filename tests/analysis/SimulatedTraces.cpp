#include "tests/analysis/SimulatedTraces.h"

namespace vime {

std::vector<trace::RankTrace> tracesOf(const verify::ActionTable &table, const Simulated &run,
                                       std::uint32_t steps) {
  std::vector<trace::RankTrace> found;
  for (const verify::RankView &rank : table.ranks()) {
    trace::RankTrace trace{.rank = rank.rank,
                           .ranks = static_cast<std::uint32_t>(table.ranks().size())};
    for (std::uint32_t step = 0; step < steps; ++step)
      for (const verify::Segment &segment : rank.segments)
        for (std::uint32_t entry = segment.first; segment.isLoop() && entry < segment.end;
             ++entry) {
          const ActionTimes &times = run.times[entry];
          const std::int64_t begin = 1'000'000'000 + step * (run.period + 5000);
          const bool isInline =
              plan::runsOnDispatcher(rank.program->lanes[table.action(rank, entry).lane].kind);
          trace.actions.push_back({.action = table[entry].action,
                                   .step = step,
                                   .posted = begin + times.posted,
                                   .begin = begin + (isInline ? times.begin : times.posted),
                                   .end = begin + times.end,
                                   .awaited = 1});
        }
    found.push_back(std::move(trace));
  }
  return found;
}

} // namespace vime
