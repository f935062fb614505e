// Steps of an order, one behind the other.
#include "schedules/Period.h"
#include "schedules/TaskGraph.h"

#include <map>

namespace vime {

namespace {

constexpr int kMostSteps = 256; // within which the pattern of steps comes back
constexpr int kJitteredSteps = 32;
constexpr std::size_t kMostTasks = std::size_t{1} << 26; // run for one figure: half a second
constexpr std::int64_t kFine = 1 << 20; // parts of a unit of time, for tasks that jitter

// As many as wanted, fewer of very large steps.
int stepsOf(const TaskGraph &graph, int wanted) {
  return static_cast<int>(std::clamp<std::size_t>(kMostTasks / graph.nodes.size(), 4,
                                                  static_cast<std::size_t>(wanted)));
}

std::int64_t latest(const std::vector<std::int64_t> &freeAt) {
  return *std::max_element(freeAt.begin(), freeAt.end());
}

// Per step of the cycle that steps fall into: exact as soon as ranks end as they once did, measured
// over the second half of the steps if they never do.
double cyclicPeriod(const TaskGraph &graph, std::size_t ranks, const TaskCosts &costs) {
  std::vector<std::int64_t> freeAt(ranks);
  std::map<std::vector<std::int64_t>, std::pair<int, std::int64_t>> seen; // ends: step, latest end
  std::int64_t halfway = 0;
  const int steps = stepsOf(graph, kMostSteps);
  for (int step = 1; step <= steps; ++step) {
    graph.advance(
        freeAt, [&](const TaskNode &node) { return costs.of(node.task); }, costs.transfer,
        costs.pair);
    std::vector<std::int64_t> ends = freeAt;
    for (std::int64_t &end : ends)
      end -= latest(freeAt);
    const auto [known, isNew] = seen.try_emplace(std::move(ends), step, latest(freeAt));
    if (const auto &[before, then] = known->second; !isNew)
      return static_cast<double>(latest(freeAt) - then) / (step - before);
    if (step == steps / 2)
      halfway = latest(freeAt);
  }
  return static_cast<double>(latest(freeAt) - halfway) / (steps - steps / 2);
}

// SplitMix64: the same numbers everywhere.
class Dice {
public:
  explicit Dice(std::uint64_t seed) : state(seed) {}
  /// From -1 to 1.
  double roll() {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
  }

private:
  std::uint64_t state;
};

} // namespace

Periods periodsOf(const Schedule &order, UnitCosts costs) {
  return periodsOf(order, taskCosts(costs, order.placement.size()));
}

Periods periodsOf(const Schedule &order, const TaskCosts &costs) {
  const std::optional<TaskGraph> graph =
      graphOf(order, costs.pair > 0 ? Pairs::Together : Pairs::Apart);
  if (!graph || graph->nodes.empty())
    return {};
  std::vector<std::int64_t> freeAt(order.rows.size());
  graph->advance(
      freeAt, [&](const TaskNode &node) { return costs.of(node.task); }, costs.transfer,
      costs.pair);
  return {static_cast<double>(latest(freeAt)), cyclicPeriod(*graph, order.rows.size(), costs)};
}

Periods growthUnderJitter(const Schedule &order, UnitCosts costs, double spread,
                          std::uint64_t seed) {
  const std::optional<TaskGraph> graph = graphOf(order);
  if (!graph || graph->nodes.empty())
    return {};
  Dice dice(seed);
  const auto jittered = [&](const TaskNode &node) {
    const double cost = costs.of(node.task.kind) * (1.0 + spread * dice.roll());
    return static_cast<std::int64_t>(cost * kFine);
  };
  std::vector<std::int64_t> freeAt(order.rows.size());
  std::int64_t alone = 0, halfway = 0; // makespans in sum; end of the first half of the steps
  const int steps = stepsOf(*graph, kJitteredSteps);
  for (int step = 1; step <= 2 * steps; ++step) {
    graph->advance(freeAt, jittered, costs.transfer * kFine);
    if (step == steps)
      halfway = latest(freeAt);
  }
  for (int step = 0; step < steps; ++step) {
    std::vector<std::int64_t> fromZero(order.rows.size());
    graph->advance(fromZero, jittered, costs.transfer * kFine);
    alone += latest(fromZero);
  }
  const Periods exact = periodsOf(order, costs);
  const auto growth = [&](std::int64_t sum, double period) {
    return static_cast<double>(sum) / kFine / steps / period - 1.0;
  };
  return {growth(alone, exact.barrier), growth(latest(freeAt) - halfway, exact.postValidated)};
}

} // namespace vime
