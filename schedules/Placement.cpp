// Placements: which rank holds which stage.
#include "schedules/Placement.h"

#include <string_view>

namespace vime {

Placement linearPlacement(ScheduleShape shape) {
  return loopPlacement({.ranks = shape.ranks, .microbatches = shape.microbatches, .chunks = 1});
}

Placement loopPlacement(ScheduleShape shape) {
  Placement placement(static_cast<std::size_t>(shape.stages()));
  for (int stage = 0; stage < shape.stages(); ++stage)
    placement[static_cast<std::size_t>(stage)] = stage % shape.ranks;
  return placement;
}

Placement veePlacement(ScheduleShape shape) {
  Placement placement(static_cast<std::size_t>(shape.stages()));
  for (int stage = 0; stage < shape.stages(); ++stage) {
    const int along = stage % shape.ranks;
    const bool goesUp = stage / shape.ranks % 2 == 0;
    placement[static_cast<std::size_t>(stage)] = goesUp ? along : shape.ranks - 1 - along;
  }
  return placement;
}

Placement bothWaysPlacement(ScheduleShape shape) {
  return veePlacement({.ranks = shape.ranks, .microbatches = shape.microbatches, .chunks = 2});
}

int depthOf(const Schedule &order) {
  return static_cast<int>(order.placement.size()) / order.copies;
}

int copyOf(const Schedule &order, int stage) { return stage / depthOf(order); }

void dealToCopies(Schedule &order) {
  for (std::vector<Task> &row : order.rows)
    for (Task &task : row)
      if (task.kind != TaskKind::Idle)
        task.microbatch = task.microbatch * order.copies + copyOf(order, task.stage);
}

std::variant<Schedule, std::string> movedTo(Schedule order, Placement placement) {
  const int ranks = static_cast<int>(order.rows.size());
  for (std::size_t first = 0; placement.size() < order.placement.size(); ++first)
    placement.push_back(ranks - 1 - placement[first]);
  std::vector<int> renamed(order.rows.size(), -1), first(order.rows.size(), -1);
  const auto apart = [](int stage, int other, std::string_view what) {
    return "stages " + std::to_string(other) + " and " + std::to_string(stage) + std::string(what);
  };
  for (int stage = 0; stage < static_cast<int>(placement.size()); ++stage) {
    const int to = placement[static_cast<std::size_t>(stage)];
    if (to < 0 || to >= ranks)
      return "stage " + std::to_string(stage) + " cannot be on rank " + std::to_string(to) +
             ": there are " + std::to_string(ranks) + " ranks";
    const auto from = static_cast<std::size_t>(order.placement[static_cast<std::size_t>(stage)]);
    if (renamed[from] >= 0 && renamed[from] != to)
      return apart(stage, first[from], " share a rank in this schedule, not in the placement");
    if (renamed[from] < 0) {
      for (std::size_t other = 0; other < renamed.size(); ++other)
        if (renamed[other] == to)
          return apart(stage, first[other], " share a rank in the placement, not in this schedule");
      renamed[from] = to;
      first[from] = stage;
    }
  }
  std::vector<std::vector<Task>> rows(order.rows.size());
  for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
    rows[static_cast<std::size_t>(renamed[rank])] = std::move(order.rows[rank]);
  return Schedule{placement, std::move(rows), order.copies, order.slices};
}

std::vector<int> stagesOf(const Placement &placement, int rank) {
  std::vector<int> stages;
  for (std::size_t stage = 0; stage < placement.size(); ++stage)
    if (placement[stage] == rank)
      stages.push_back(static_cast<int>(stage));
  return stages;
}

} // namespace vime
