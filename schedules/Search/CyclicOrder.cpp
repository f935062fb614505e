// A cyclic order: what each rank runs again and again in the steady part.
#include "schedules/Search/CyclicOrder.h"

#include <algorithm>

namespace vime {

namespace {

constexpr std::int64_t kUnknown = -1;

// A rank that runs its turns.
struct Runner {
  int turn;
  std::size_t place = 0;
  std::int64_t freeAt = 0;
};

class Unrolling {
public:
  Unrolling(const Flow &flow, const CyclicOrder &cycle)
      : flow(flow), cycle(cycle), start(flow.size(), kUnknown) {
    const auto [least, largest] = std::minmax_element(cycle.shifts.begin(), cycle.shifts.end());
    runners.assign(cycle.rows.size(), {.turn = -*largest});
    lastTurn = flow.microbatches - 1 - *least;
  }

  std::optional<Timing> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < runners.size(); ++rank)
        while (runners[rank].turn <= lastTurn && step(rank))
          moved = true;
    }
    for (const Runner &runner : runners)
      if (runner.turn <= lastTurn)
        return std::nullopt;
    return timed(flow, std::move(start));
  }

private:
  bool step(std::size_t rank) {
    Runner &runner = runners[rank];
    const auto pass = static_cast<std::size_t>(cycle.rows[rank][runner.place]);
    const int microbatch = runner.turn + cycle.shifts[pass];
    if (0 <= microbatch && microbatch < flow.microbatches) {
      const std::int64_t ready = readyAt(pass, microbatch);
      if (ready == kUnknown)
        return false;
      const std::int64_t begin = std::max(ready, runner.freeAt);
      start[flow.at(pass, microbatch)] = begin;
      runner.freeAt = begin + flow.passes[pass].duration;
    }
    if (++runner.place == cycle.rows[rank].size())
      ++runner.turn, runner.place = 0;
    return true;
  }

  std::int64_t readyAt(std::size_t pass, int microbatch) const {
    std::int64_t ready = 0;
    for (std::size_t need = 0; need < 2; ++need)
      if (const int index = flow.passes[pass].needs[need]; index >= 0) {
        const auto needed = static_cast<std::size_t>(index);
        const std::int64_t begin = start[flow.at(needed, microbatch)];
        if (begin == kUnknown)
          return kUnknown;
        ready =
            std::max(ready, begin + flow.passes[needed].duration + flow.passes[pass].hops[need]);
      }
    return ready;
  }

  const Flow &flow;
  const CyclicOrder &cycle;
  Times start;
  std::vector<Runner> runners;
  int lastTurn = 0;
};

// In every turn, what came before it included.
bool fits(const Flow &flow, const CyclicOrder &cycle) {
  for (const std::vector<int> &row : cycle.rows) {
    int live = 0;
    for (const int index : row) {
      const auto pass = static_cast<std::size_t>(index);
      live += flow.passes[pass].holds * cycle.shifts[pass];
    }
    for (const int index : row)
      if ((live += flow.passes[static_cast<std::size_t>(index)].holds) > flow.memory)
        return false;
  }
  return true;
}

// Of a rank: a pass and the one behind it, which may be the first of the next turn.
void swapNeighbours(CyclicOrder &cycle, Random &random) {
  auto &row = cycle.rows[static_cast<std::size_t>(
      random.below(static_cast<std::int64_t>(cycle.rows.size())))];
  const auto place = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(row.size())));
  const std::size_t behind = (place + 1) % row.size();
  if (behind == 0) {
    --cycle.shifts[static_cast<std::size_t>(row[place])];
    ++cycle.shifts[static_cast<std::size_t>(row[behind])];
  }
  std::swap(row[place], row[behind]);
}

} // namespace

CyclicOrder cycleOf(const Kernel &kernel, const Flow &flow) {
  CyclicOrder cycle{std::vector<std::vector<int>>(static_cast<std::size_t>(flow.ranks)), {}};
  std::vector<std::int64_t> within; // the turn, per pass
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass) {
    const std::int64_t key = kernel.keys[pass], rest = key % kernel.period;
    within.push_back(rest < 0 ? rest + kernel.period : rest);
    cycle.shifts.push_back(static_cast<int>((within.back() - key) / kernel.period));
    cycle.rows[static_cast<std::size_t>(flow.passes[pass].rank)].push_back(static_cast<int>(pass));
  }
  for (std::vector<int> &row : cycle.rows)
    std::stable_sort(row.begin(), row.end(), [&](int left, int right) {
      return within[static_cast<std::size_t>(left)] < within[static_cast<std::size_t>(right)];
    });
  return cycle;
}

std::optional<Timing> unrolled(const Flow &flow, const CyclicOrder &cycle) {
  if (!fits(flow, cycle))
    return std::nullopt;
  return Unrolling(flow, cycle).run();
}

CyclicOrder betterCycle(const Flow &flow, CyclicOrder cycle, Random &random, std::int64_t tries) {
  const auto costOf = [&](const CyclicOrder &candidate) {
    const std::optional<Timing> timing = unrolled(flow, candidate);
    return timing ? timing->makespan : kForever;
  };
  CyclicOrder best = cycle;
  std::int64_t cost = costOf(cycle), least = cost;
  if (cost == kForever)
    return cycle;
  std::vector<std::int64_t> accepted(100, cost);
  for (std::int64_t attempt = 0; attempt < tries; ++attempt) {
    CyclicOrder candidate = cycle;
    for (std::int64_t swaps = 1 + random.below(3); swaps > 0; --swaps)
      swapNeighbours(candidate, random);
    std::int64_t &before = accepted[static_cast<std::size_t>(attempt) % accepted.size()];
    const std::int64_t other = costOf(candidate);
    if (other <= std::max(cost, before) && other != kForever) {
      cycle = std::move(candidate);
      cost = other;
      if (cost < least) {
        least = cost;
        best = cycle;
      }
    }
    before = cost;
  }
  return best;
}

} // namespace vime
