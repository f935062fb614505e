#include "tests/Interpreter/OrderRun.h"

#include <set>
#include <tuple>

namespace vime::interpreter {
namespace {

using Done = std::set<std::tuple<TaskKind, int, int>>; // stage, microbatch

class Run {
public:
  Run(const Schedule &order, int microbatches)
      : order(order), stages(static_cast<int>(order.placement.size())), microbatches(microbatches),
        at(order.rows.size(), 0) {}

  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
        for (; at[rank] < order.rows[rank].size(); ++at[rank], moved = true) {
          const Task &task = order.rows[rank][at[rank]];
          if (task.kind == TaskKind::Idle)
            continue;
          if (!isOne(task, rank))
            return "a task that no step has";
          if (!mayRun(task))
            break;
          if (!done.insert({task.kind, task.stage, task.microbatch}).second)
            return "a task runs twice";
        }
    }
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      if (at[rank] != order.rows[rank].size())
        return "stuck";
    return isComplete() ? "" : "a task is missing";
  }

private:
  bool isOne(const Task &task, std::size_t rank) const {
    return task.stage >= 0 && task.stage < stages && task.microbatch >= 0 &&
           task.microbatch < microbatches &&
           order.placement[static_cast<std::size_t>(task.stage)] == static_cast<int>(rank);
  }
  bool has(TaskKind kind, int stage, int microbatch) const {
    return done.count({kind, stage, microbatch}) != 0;
  }
  /// The gradient of what the stage passes on.
  bool hasGradient(int stage, int microbatch) const {
    return stage == stages || has(TaskKind::Backward, stage, microbatch) ||
           has(TaskKind::BackwardInput, stage, microbatch);
  }
  bool mayRun(const Task &task) const {
    switch (task.kind) {
    case TaskKind::Forward:
      return task.stage == 0 || has(TaskKind::Forward, task.stage - 1, task.microbatch);
    case TaskKind::Backward:
    case TaskKind::BackwardInput:
      return has(TaskKind::Forward, task.stage, task.microbatch) &&
             hasGradient(task.stage + 1, task.microbatch);
    case TaskKind::BackwardWeight:
      return has(TaskKind::BackwardInput, task.stage, task.microbatch);
    case TaskKind::Idle:
      break;
    }
    return true;
  }
  bool isComplete() const {
    for (int stage = 0; stage < stages; ++stage)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
        const bool whole = has(TaskKind::Backward, stage, microbatch),
                   input = has(TaskKind::BackwardInput, stage, microbatch),
                   weight = has(TaskKind::BackwardWeight, stage, microbatch);
        if (!has(TaskKind::Forward, stage, microbatch) || whole == input || input != weight)
          return false;
      }
    return true;
  }

  const Schedule &order;
  const int stages, microbatches;
  std::vector<std::size_t> at; // of each rank, the next task of its row
  Done done;
};

} // namespace

std::string runOrder(const Schedule &order, int microbatches) {
  return Run(order, microbatches).run();
}

} // namespace vime::interpreter
