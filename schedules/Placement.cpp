// Placements: which rank holds which stage.
#include "schedules/Placement.h"

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

std::vector<int> stagesOf(const Placement &placement, int rank) {
  std::vector<int> stages;
  for (std::size_t stage = 0; stage < placement.size(); ++stage)
    if (placement[stage] == rank)
      stages.push_back(static_cast<int>(stage));
  return stages;
}

} // namespace vime
