// How tasks depend on each other.
#include "schedules/Needs.h"

namespace vime {

Needs needsOf(const Task &task, const Schedule &order) {
  Needs needs;
  const int depth = static_cast<int>(order.placement.size()) / order.copies; // stages of a copy
  const int slice = task.microbatch % order.slices;
  switch (task.kind) {
  case TaskKind::Forward:
    if (task.stage % depth > 0)
      needs.add(Passed::Output, task.stage - 1, task.microbatch);
    if (slice > 0)
      needs.add(Passed::Output, task.stage, task.microbatch - 1);
    break;
  case TaskKind::Backward:
  case TaskKind::BackwardInput:
    needs.add(Passed::Output, task.stage, task.microbatch);
    if ((task.stage + 1) % depth > 0)
      needs.add(Passed::Gradient, task.stage + 1, task.microbatch);
    if (slice + 1 < order.slices)
      needs.add(Passed::Gradient, task.stage, task.microbatch + 1);
    break;
  case TaskKind::BackwardWeight:
    needs.add(Passed::Gradient, task.stage, task.microbatch);
    break;
  case TaskKind::Idle:
    break;
  }
  return needs;
}

std::optional<Need> madeBy(const Task &task) {
  switch (task.kind) {
  case TaskKind::Forward:
    return Need{Passed::Output, task.stage, task.microbatch};
  case TaskKind::Backward:
  case TaskKind::BackwardInput:
    return Need{Passed::Gradient, task.stage, task.microbatch};
  default:
    return std::nullopt;
  }
}

} // namespace vime
