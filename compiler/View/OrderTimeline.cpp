#include "compiler/View/OrderTimeline.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "schedules/Needs.h"
#include "schedules/UnitTime.h"

namespace vime {
namespace {

constexpr std::int64_t kNever = -1;

/// Of TaskKind, in its order.
const std::vector<BarKind> &taskKinds() {
  static const std::vector<BarKind> kKinds = {{"forward", "F", ""},
                                              {"backward", "B", ""},
                                              {"backward_input", "I", ""},
                                              {"backward_weight", "W", ""}};
  return kKinds;
}

class OrderTimeline {
public:
  OrderTimeline(const Schedule &order, UnitCosts costs)
      : order(order), costs(costs), times(simulate(order, costs)) {}

  Timeline make(std::string title) {
    timeline.title = std::move(title);
    timeline.costs = fmt::format("F {}, I {}, W {}, a transfer {}", costs.forward,
                                 costs.backwardInput, costs.backwardWeight, costs.transfer);
    timeline.unit = "units";
    timeline.perUnit = static_cast<double>(kUnit);
    timeline.period = times.makespan * kUnit;
    timeline.bubble = times.bubble;
    timeline.kinds = taskKinds();
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      addRow(rank);
    addNeeds();
    if (times.stuck)
      addStuck();
    return std::move(timeline);
  }

private:
  using Product = std::tuple<Passed, int, int>;

  void addRow(std::size_t rank) {
    TimelineRow row{.rank = static_cast<std::uint32_t>(rank)};
    for (std::size_t stage = 0; stage < order.placement.size(); ++stage)
      if (order.placement[stage] == static_cast<int>(rank))
        row.stages.push_back(static_cast<std::uint32_t>(stage));
    std::int64_t free = 0, busy = 0;
    bool stopped = false;
    for (std::size_t place = 0; place < order.rows[rank].size(); ++place) {
      const Task &task = order.rows[rank][place];
      if (task.kind == TaskKind::Idle)
        continue;
      timeline.microbatches =
          std::max(timeline.microbatches, static_cast<std::uint32_t>(task.microbatch + 1));
      const std::int64_t start = times.start[rank][place];
      if (start == kNever) {
        if (stopped)
          continue;
        stopped = true; // the first of those that never start is shown where it would
      }
      const std::int64_t cost = costs.of(task.kind) * kUnit;
      const std::int64_t begin = start == kNever ? times.makespan * kUnit : start * kUnit;
      const std::int64_t idle = begin - free;
      if (idle > 0 && start != kNever)
        (row.bars.empty() ? row.idle.warmUp : row.idle.dependence) += idle;
      if (start == kNever)
        stops[static_cast<int>(rank)] = number;
      else if (const auto made = madeBy(task))
        maker[{made->value, made->stage, made->microbatch}] = number;
      row.bars.push_back({.posted = begin,
                          .ready = begin,
                          .begin = begin,
                          .end = begin + cost,
                          .kind = static_cast<std::uint16_t>(task.kind),
                          .stage = task.stage,
                          .microbatch = task.microbatch,
                          .action = static_cast<std::uint32_t>(place)});
      if (start != kNever) {
        free = begin + cost;
        busy += cost;
      }
      ++number;
    }
    row.busy = busy;
    row.idle.coolDown = std::max<std::int64_t>(times.makespan * kUnit - free, 0);
    timeline.rows.push_back(std::move(row));
  }

  void addNeeds() {
    for (TimelineRow &row : timeline.rows)
      for (Bar &bar : row.bars)
        for (const Need &need :
             needsOf({static_cast<TaskKind>(bar.kind), bar.stage, bar.microbatch}, order))
          if (const auto found = maker.find({need.value, need.stage, need.microbatch});
              found != maker.end())
            bar.behind.push_back(found->second);
  }

  /// The first task of each rank that never starts: it waits for a rank that stands still too.
  void addStuck() {
    TimelineProblem problem{"this order never finishes: " + times.stuck->message, {}};
    for (const auto &[rank, stop] : stops) {
      problem.bars.push_back(stop);
      Bar &bar = barOf(stop);
      for (const Need &need :
           needsOf({static_cast<TaskKind>(bar.kind), bar.stage, bar.microbatch}, order)) {
        const bool exists =
            0 <= need.stage && need.stage < static_cast<int>(order.placement.size());
        const auto holder = exists ? stops.find(order.placement[need.stage]) : stops.end();
        if (holder != stops.end() && holder->first != rank &&
            !maker.contains({need.value, need.stage, need.microbatch}))
          bar.behind.push_back(holder->second);
      }
    }
    timeline.problems.push_back(std::move(problem));
  }

  Bar &barOf(std::uint32_t place) {
    for (TimelineRow &row : timeline.rows) {
      if (place < row.bars.size())
        return row.bars[place];
      place -= static_cast<std::uint32_t>(row.bars.size());
    }
    assert(false);
    return timeline.rows.front().bars.front();
  }

  const Schedule &order;
  const UnitCosts costs;
  const UnitTimes times;
  std::map<Product, std::uint32_t> maker; // bar that makes it
  std::map<int, std::uint32_t> stops;     // by rank: bar of the first task that never starts
  std::uint32_t number = 0;               // of the next bar
  Timeline timeline;
};

} // namespace

Timeline timelineOf(const Schedule &order, std::string title, UnitCosts costs) {
  return OrderTimeline(order, costs).make(std::move(title));
}

} // namespace vime
