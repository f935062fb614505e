#include "schedules/ForwardsInStep.h"

namespace vime {

namespace {

class ForwardsInStep {
public:
  ForwardsInStep(Schedule &order, int microbatches)
      : order(order), microbatches(microbatches),
        end(order.placement.size() * static_cast<std::size_t>(microbatches), kNotYet) {}

  void drawIdleSlots() {
    const std::vector<std::vector<Task>> rows = std::move(order.rows);
    order.rows.assign(rows.size(), {});
    std::vector<std::size_t> next(rows.size(), 0);
    std::size_t left = 0;
    for (const std::vector<Task> &row : rows)
      left += row.size();
    for (int slot = 0; left > 0; ++slot)
      for (std::size_t rank = 0; rank < rows.size(); ++rank)
        if (next[rank] < rows[rank].size()) {
          const Task &task = rows[rank][next[rank]];
          const bool runs = canRun(task, slot);
          order.rows[rank].push_back(runs ? task : Task{TaskKind::Idle, -1, -1});
          next[rank] += runs;
          left -= runs;
        }
  }

private:
  static constexpr int kNotYet = 1 << 30;

  int &endOf(int stage, int microbatch) {
    return end[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) +
               static_cast<std::size_t>(microbatch)];
  }

  bool canRun(const Task &task, int slot) {
    if (task.kind != TaskKind::Forward)
      return true;
    if (task.stage > 0 && endOf(task.stage - 1, task.microbatch) > slot)
      return false;
    endOf(task.stage, task.microbatch) = slot + 1;
    return true;
  }

  Schedule &order;
  int microbatches;
  std::vector<int> end; // of the forward of a stage and microbatch, in slots
};

} // namespace

void drawForwardsInStep(Schedule &order, int microbatches) {
  ForwardsInStep(order, microbatches).drawIdleSlots();
}

} // namespace vime
