// Search: a short order under a memory cap, for given costs.
#include "schedules/Search/Search.h"
#include "schedules/Bounds.h"
#include "schedules/Search/CyclicOrder.h"
#include "schedules/Search/Neighbours.h"
#include "schedules/UnitTime.h"

#include <algorithm>
#include <cstdlib>

namespace vime {

namespace {

constexpr std::int64_t kSteps = 3'000'000; // passes that are scheduled, all runs together
constexpr std::int64_t kLeastRuns = 24;    // of a flow, however large it is
constexpr std::int64_t kHope = 30;         // a part of the makespan that rounds may make good
constexpr std::size_t kChains = 2;         // of kernels, each beginning with another
constexpr std::size_t kMemory = 40;        // attempts after which a chain must have got better

class Searcher {
public:
  Searcher(const SearchTask &task, std::int64_t steps)
      : task(task), steps(steps), flow(flowOf(task.shape, task.placement, task.memory)),
        justifier(flow), bounds(boundsOf({.placement = task.placement,
                                          .ranks = task.shape.ranks,
                                          .microbatches = task.shape.microbatches,
                                          .memory = task.memory,
                                          .costs = task.shape.costs})),
        mostRuns(std::max(kLeastRuns, steps / static_cast<std::int64_t>(flow.size()))) {
    best.timing.makespan = INT64_MAX;
  }

  Schedule run() { return search(), orderOf(flow, best.timing); }

private:
  struct Chain {
    Kernel kernel;
    std::int64_t cost;
  };

  void search() {
    tryStarts();
    isRefining = true;
    if (!isDone(mostRuns))
      tryShorter();
    tryKernels(mostRuns * 2 / 5);
    tryKeys(mostRuns);
    if (best.timing.makespan > bounds.makespan.least)
      tryCycles();
  }

  bool isDone(std::int64_t until) const {
    if (best.timing.makespan > bounds.makespan.least)
      return runs >= until;
    // Nothing is faster. Spans that nobody knows to be possible are not looked for as long.
    return best.timing.span <= bounds.span.least ||
           runs >= std::min(until, improved + mostRuns / 2);
  }

  // Makespan first, but a gain elsewhere shows the way.
  std::int64_t costOf(const Timing &timing) const {
    return 16 * timing.makespan + 8 * timing.span + 4 * timing.spans / flow.ranks;
  }

  void keep(Attempt attempt) {
    if (isBetter(best.timing, attempt.timing))
      return;
    if (isBetter(attempt.timing, best.timing))
      improved = runs;
    best = std::move(attempt);
  }

  // Starts are bettered whatever they are, neighbours of a good timing only if they are not much
  // worse.
  std::int64_t hopeless() const {
    return isRefining ? best.timing.makespan + best.timing.makespan / kHope : kForever;
  }

  Timing attempt(const Urgency &urgency, Ends ends) {
    Attempt made = justifier.improved(urgency, ends, hopeless());
    runs += made.runs;
    Timing timing = made.timing;
    keep(std::move(made));
    return timing;
  }

  void tryStart(const Times &keys) {
    for (const Urgency &urgency : {Urgency{keys}, Urgency{keys, {.eagerness = 0}},
                                   Urgency{keys, {.patience = workPerMicrobatch(flow) / 4}}})
      for (const Ends ends : {Ends::Anywhere, Ends::Staggered})
        if (!isDone(mostRuns))
          attempt(urgency, ends);
  }

  // First those that hold about as much as they may.
  void tryStarts() {
    std::vector<std::pair<int, Timing>> starts; // distance from that, and times
    const ScheduleShape byRule{.ranks = task.shape.ranks,
                               .microbatches = task.shape.microbatches,
                               .chunks = task.shape.chunks};
    for (const Order *rule : task.starts) {
      const Schedule order = rule->build(byRule);
      const std::vector<int> peaks = simulate(order, task.shape.costs).peakLive;
      const int over = *std::max_element(peaks.begin(), peaks.end()) - task.memory;
      starts.push_back({std::abs(over), timingOf(flow, order, task.shape.costs)});
      if (over <= 0)
        keep({starts.back().second, {starts.back().second.start}});
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const auto &left, const auto &right) { return left.first < right.first; });
    for (const auto &[distance, timing] : starts) {
      chains.push_back({kernelOf(flow, timing), 0});
      tryStart(timing.start);
    }
    chains.push_back({straightKernel(flow), 0});
    tryStart(urgencyOf(flow, chains.back().kernel).keys);
  }

  // The kernel of the best timing of fewer microbatches, which takes fewer steps to find.
  void tryShorter() {
    SearchTask shorter = task;
    shorter.shape.microbatches = 3 * task.shape.ranks;
    if (shorter.shape.microbatches * 2 > task.shape.microbatches)
      return;
    Searcher searcher(shorter, steps);
    searcher.search();
    Kernel kernel = kernelOf(searcher.flow, searcher.best.timing);
    kernel.taste = searcher.best.urgency.taste;
    chains.push_back({kernel, 0});
    isRefining = false;
    tryStart(urgencyOf(flow, kernel).keys);
    isRefining = true;
  }

  void tryKernels(std::int64_t until) {
    if (isDone(until))
      return;
    chains.push_back({kernelOf(flow, best.timing), 0});
    for (Chain &chain : chains)
      chain.cost = costOf(attempt(urgencyOf(flow, chain.kernel), chain.kernel.ends));
    std::stable_sort(chains.begin(), chains.end(),
                     [](const Chain &left, const Chain &right) { return left.cost < right.cost; });
    const std::int64_t first = runs;
    for (std::size_t chain = 0; chain < kChains; ++chain)
      follow(chains[chain],
             first + (until - first) * static_cast<std::int64_t>(chain + 1) / kChains);
  }

  void follow(Chain chain, std::int64_t until) {
    std::vector<std::int64_t> accepted(kMemory, chain.cost + chain.cost / 300);
    for (std::size_t step = 0; !isDone(until); ++step) {
      const Kernel kernel = neighbourOf(flow, chain.kernel, random);
      const std::int64_t cost = costOf(attempt(urgencyOf(flow, kernel), kernel.ends));
      std::int64_t &before = accepted[step % kMemory];
      if (cost <= std::max(chain.cost, before))
        chain = {kernel, cost};
      before = chain.cost;
    }
  }

  // The kernels as orders that no rank departs from: less to choose, but a shorter period where
  // memory is small.
  void tryCycles() {
    SearchTask shorter = task;
    shorter.shape.microbatches = std::min(task.shape.microbatches, 6 * task.shape.ranks);
    const Flow few = flowOf(shorter.shape, task.placement, task.memory);
    const std::int64_t tries = steps / static_cast<std::int64_t>(few.size());
    for (const Chain &chain : chains)
      if (std::optional<Timing> timing =
              unrolled(flow, betterCycle(few, cycleOf(chain.kernel, few), random, tries)))
        keep({*timing, {timing->start}});
  }

  void tryKeys(std::int64_t until) {
    while (!isDone(until))
      attempt(neighbourOf(flow, best.urgency, random),
              random.oneIn(2) ? Ends::Anywhere : Ends::Staggered);
  }

  const SearchTask &task;
  const std::int64_t steps;
  const Flow flow;
  const Justifier justifier;
  const Bounds bounds;
  const std::int64_t mostRuns;
  std::int64_t runs = 0;     // so far
  std::int64_t improved = 0; // runs before the best timing was found
  bool isRefining = false;
  Random random;
  std::vector<Chain> chains;
  Attempt best;
};

} // namespace

Schedule searched(const SearchTask &task) { return Searcher(task, kSteps).run(); }

} // namespace vime
