// Unit time: when each task of an order starts.
#include "schedules/UnitTime.h"
#include "schedules/Limits.h"
#include "schedules/Needs.h"
#include "schedules/Notation.h"

#include <algorithm>

namespace vime {

int UnitCosts::of(TaskKind kind) const {
  switch (kind) {
  case TaskKind::Forward:
    return forward;
  case TaskKind::Backward:
    return backwardInput + backwardWeight;
  case TaskKind::BackwardInput:
    return backwardInput;
  case TaskKind::BackwardWeight:
    return backwardWeight;
  case TaskKind::Idle:
    break;
  }
  return 0;
}

namespace {

constexpr std::int64_t kNever = -1;
constexpr int kNobody = -1;

// One number per stage, microbatch and value.
template <typename T> class ValueTable {
public:
  ValueTable(int stages, int microbatches, T initial)
      : microbatches(static_cast<std::size_t>(microbatches)),
        cells(2 * static_cast<std::size_t>(stages) * this->microbatches, initial) {}
  T &at(Need need) {
    const std::size_t row =
        2 * static_cast<std::size_t>(need.stage) + static_cast<std::size_t>(need.value);
    return cells[row * microbatches + static_cast<std::size_t>(need.microbatch)];
  }

private:
  std::size_t microbatches;
  std::vector<T> cells;
};

int microbatchesOf(const Schedule &order) {
  const std::int64_t stages =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(order.placement.size()));
  std::int64_t count = 0;
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      count = std::max<std::int64_t>(count, std::int64_t{task.microbatch} + 1);
  return static_cast<int>(std::min({count, std::int64_t{kMaxMicrobatches}, kMaxForwards / stages}));
}

class Simulation {
public:
  Simulation(const Schedule &order, UnitCosts costs)
      : order(order), costs(costs), stages(static_cast<int>(order.placement.size())),
        microbatches(microbatchesOf(order)), keepsActivations(hasBackwards(order)),
        readyAt(stages, microbatches, kNever), next(order.rows.size()), freeAt(order.rows.size()),
        live(order.rows.size()) {
    times.busy.resize(order.rows.size());
    times.span.resize(order.rows.size());
    times.peakLive.resize(order.rows.size());
    for (const std::vector<Task> &row : order.rows)
      times.start.emplace_back(row.size(), kNever);
  }

  UnitTimes run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
        while (step(rank))
          moved = true;
    }
    summarize();
    times.stuck = findStuck();
    return std::move(times);
  }

private:
  bool isKnown(const Task &task) const {
    return 0 <= task.stage && task.stage < stages && 0 <= task.microbatch &&
           task.microbatch < microbatches;
  }

  bool exists(const Need &need) const {
    return need.stage < stages && need.microbatch < microbatches;
  }

  // The first thing that the task still waits for.
  std::optional<Need> missing(const Task &task) {
    for (const Need need : needsOf(task, order))
      if (!exists(need) || readyAt.at(need) == kNever)
        return need;
    return std::nullopt;
  }

  // Runs the rank's next task if it can run.
  bool step(std::size_t rank) {
    if (next[rank] == order.rows[rank].size())
      return false;
    const Task &task = order.rows[rank][next[rank]];
    if (task.kind != TaskKind::Idle) {
      if (!isKnown(task) || missing(task))
        return false;
      execute(rank, task);
    }
    ++next[rank];
    return true;
  }

  // When the rank holds it: what another rank made has a way to go.
  std::int64_t arrival(Need need, std::size_t rank) {
    const int maker = order.placement[static_cast<std::size_t>(need.stage)];
    return readyAt.at(need) + (maker == static_cast<int>(rank) ? 0 : costs.transfer);
  }

  void execute(std::size_t rank, const Task &task) {
    std::int64_t start = freeAt[rank];
    for (const Need need : needsOf(task, order))
      start = std::max(start, arrival(need, rank));
    times.start[rank][next[rank]] = start;
    freeAt[rank] = start + costs.of(task.kind);
    times.busy[rank] += costs.of(task.kind);
    if (const std::optional<Need> made = madeBy(task))
      readyAt.at(*made) = freeAt[rank];
    if (task.kind == TaskKind::Forward) {
      times.peakLive[rank] = std::max(times.peakLive[rank], live[rank] + 1);
      live[rank] += keepsActivations;
    } else if (task.kind != TaskKind::BackwardInput)
      --live[rank];
  }

  // Somebody comes for them.
  static bool hasBackwards(const Schedule &order) {
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        if (task.kind != TaskKind::Forward && task.kind != TaskKind::Idle)
          return true;
    return false;
  }

  void summarize() {
    std::int64_t busy = 0;
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank) {
      times.makespan = std::max(times.makespan, freeAt[rank]);
      times.span[rank] = freeAt[rank] - firstStart(rank);
      busy += times.busy[rank];
    }
    if (times.makespan > 0)
      times.bubble = 1.0 - static_cast<double>(busy) / static_cast<double>(times.makespan) /
                               static_cast<double>(order.rows.size());
  }

  std::int64_t firstStart(std::size_t rank) const {
    for (const std::int64_t start : times.start[rank])
      if (start != kNever)
        return start;
    return 0;
  }

  // The first rank whose input nobody will ever make; if there is none, the first of the circle.
  std::optional<StuckTask> findStuck() {
    if (isComplete())
      return std::nullopt;
    ValueTable<int> makers = makersToCome();
    std::optional<StuckTask> circle;
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank) {
      if (next[rank] == order.rows[rank].size())
        continue;
      const Task &task = order.rows[rank][next[rank]];
      const std::optional<Need> need = isKnown(task) ? missing(task) : std::nullopt;
      const int maker = need && exists(*need) ? makers.at(*need) : kNobody;
      if (maker == kNobody)
        return stuckAt(rank, need, maker);
      if (!circle)
        circle = stuckAt(rank, need, maker);
    }
    return circle;
  }

  bool isComplete() const {
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      if (next[rank] != order.rows[rank].size())
        return false;
    return true;
  }

  ValueTable<int> makersToCome() {
    ValueTable<int> makers(stages, microbatches, kNobody);
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      for (std::size_t position = next[rank]; position < order.rows[rank].size(); ++position) {
        const Task &task = order.rows[rank][position];
        if (const std::optional<Need> made = madeBy(task); made && isKnown(task))
          makers.at(*made) = static_cast<int>(rank);
      }
    return makers;
  }

  StuckTask stuckAt(std::size_t rank, std::optional<Need> need, int maker) {
    const Task &task = order.rows[rank][next[rank]];
    StuckTask stuck{static_cast<int>(rank), next[rank], task, {}};
    stuck.message = "rank " + std::to_string(rank) + " stops at " + toText(task) + ": ";
    if (!need) {
      stuck.message += "there is no such stage or microbatch";
      return stuck;
    }
    const bool split =
        task.kind == TaskKind::BackwardInput || task.kind == TaskKind::BackwardWeight;
    const TaskKind gradient = split ? TaskKind::BackwardInput : TaskKind::Backward;
    const TaskKind kind = need->value == Passed::Output ? TaskKind::Forward : gradient;
    stuck.message += "it waits for " + toText({kind, need->stage, need->microbatch});
    if (maker == kNobody) {
      stuck.message += ", which no rank runs";
      return stuck;
    }
    const std::size_t other = static_cast<std::size_t>(maker);
    stuck.message += ", which stands behind " + toText(order.rows[other][next[other]]) +
                     " on rank " + std::to_string(maker);
    return stuck;
  }

  const Schedule &order;
  const UnitCosts costs;
  const int stages;
  const int microbatches;
  const bool keepsActivations;
  ValueTable<std::int64_t> readyAt;
  std::vector<std::size_t> next;    // per rank: position of the next task
  std::vector<std::int64_t> freeAt; // per rank: end of its last task
  std::vector<int> live;            // per rank
  UnitTimes times;
};

} // namespace

UnitTimes simulate(const Schedule &order, UnitCosts costs) {
  return Simulation(order, costs).run();
}

} // namespace vime
