#include "tests/schedules/OrderJudge.h"

namespace vime {
namespace {

bool isBackward(TaskKind kind) {
  return kind == TaskKind::Backward || kind == TaskKind::BackwardInput;
}
bool givesInput(const Task &task) { return isBackward(task.kind); }
bool givesWeight(const Task &task) {
  return task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardWeight;
}

class OrderJudge {
public:
  OrderJudge(const Order &rule, const Schedule &order, ScheduleShape shape)
      : rule(rule), order(order), ranks(shape.ranks), depth(shape.stages()),
        stages(depth * order.copies), microbatches(shape.microbatches * order.slices),
        passes(static_cast<std::size_t>(stages) * static_cast<std::size_t>(microbatches)) {}

  std::string verdict() {
    for (const auto &check : {&OrderJudge::placement, &OrderJudge::tasks, &OrderJudge::ascending,
                              &OrderJudge::pairs, &OrderJudge::completes})
      if (std::string fault = (this->*check)(); !fault.empty())
        return fault;
    return "legal";
  }

private:
  // How often each part of a stage's pass with a microbatch occurs, or has run.
  struct Pass {
    int forward = 0, input = 0, weight = 0;
    bool operator==(const Pass &) const = default;
    void add(const Task &task) {
      forward += task.kind == TaskKind::Forward;
      input += givesInput(task);
      weight += givesWeight(task);
    }
  };

  Pass &pass(int stage, int microbatch) {
    return passes[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) +
                  static_cast<std::size_t>(microbatch)];
  }

  template <typename Visit> void forTasks(Visit visit) const {
    for (int rank = 0; rank < static_cast<int>(order.rows.size()); ++rank)
      for (const Task &task : order.rows[rank])
        if (task.kind != TaskKind::Idle)
          visit(rank, task);
  }

  std::string placement() {
    if (static_cast<int>(order.rows.size()) != ranks ||
        static_cast<int>(order.placement.size()) != stages)
      return "wrong number of ranks or stages";
    std::string fault;
    forTasks([&](int rank, const Task &task) {
      if (task.stage < 0 || task.stage >= stages || task.microbatch < 0 ||
          task.microbatch >= microbatches || task.microbatch % order.copies != task.stage / depth)
        fault = "a task of no pass";
      else if (order.placement[task.stage] != rank)
        fault = "a task on the wrong rank";
    });
    return fault;
  }

  std::string tasks() {
    forTasks([&](int, const Task &task) { pass(task.stage, task.microbatch).add(task); });
    const int backwards = rule.trains ? 1 : 0;
    for (int stage = 0; stage < stages; ++stage) // of a copy of the model, every other microbatch
      for (int microbatch = stage / depth; microbatch < microbatches; microbatch += order.copies)
        if (pass(stage, microbatch) != Pass{1, backwards, backwards})
          return "a pass that is missing or runs twice";
    return {};
  }

  // The condition for bit-equal results across orders. An order that says otherwise of itself must
  // not do so for nothing, which is not this shape's alone to tell.
  std::string ascending() {
    std::vector<Pass> next(static_cast<std::size_t>(stages));
    bool descends = false;
    forTasks([&](int, const Task &task) {
      Pass &due = next[task.stage];
      const int own = task.microbatch / order.copies; // among those of its copy
      descends |= task.kind == TaskKind::Forward && own != due.forward;
      descends |= givesInput(task) && own != due.input;
      descends |= givesWeight(task) && own != due.weight;
      due.add(task);
    });
    return descends && rule.ascending ? "microbatches of a stage out of order" : "";
  }

  std::string pairs() {
    for (const std::vector<Task> &row : order.rows)
      for (std::size_t position = 0; position < row.size(); ++position) {
        if (!row[position].overlapsNext)
          continue;
        if (position + 1 == row.size() || row[position].kind != TaskKind::Forward ||
            !isBackward(row[position + 1].kind) || row[position + 1].overlapsNext)
          return "a pair of something else than a forward and a backward";
        if (row[position].microbatch == row[position + 1].microbatch)
          return "a pair that waits for itself";
      }
    return {};
  }

  std::string completes() {
    passes.assign(passes.size(), {});
    std::vector<std::size_t> next(order.rows.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < next.size(); ++rank)
        while (next[rank] < order.rows[rank].size() && isReady(order.rows[rank][next[rank]])) {
          const Task &task = order.rows[rank][next[rank]++];
          if (task.kind != TaskKind::Idle)
            pass(task.stage, task.microbatch).add(task);
          moved = true;
        }
    }
    for (std::size_t rank = 0; rank < next.size(); ++rank)
      if (next[rank] < order.rows[rank].size())
        return "rank " + std::to_string(rank) + " never completes";
    return {};
  }

  bool isReady(const Task &task) {
    const int stage = task.stage, microbatch = task.microbatch;
    switch (task.kind) {
    case TaskKind::Idle:
      return true;
    case TaskKind::Forward:
      return (stage % depth == 0 || pass(stage - 1, microbatch).forward > 0) &&
             (microbatch % order.slices == 0 || pass(stage, microbatch - 1).forward > 0);
    case TaskKind::BackwardWeight:
      return pass(stage, microbatch).input > 0;
    default:
      return pass(stage, microbatch).forward > 0 &&
             ((stage + 1) % depth == 0 || pass(stage + 1, microbatch).input > 0) &&
             ((microbatch + 1) % order.slices == 0 || pass(stage, microbatch + 1).input > 0);
    }
  }

  const Order &rule;
  const Schedule &order;
  const int ranks, depth, stages, microbatches; // depth: stages of one copy of the model
  std::vector<Pass> passes;                     // per stage and microbatch
};

} // namespace

std::string verdictOn(const Order &rule, const Schedule &built, ScheduleShape shape) {
  return OrderJudge(rule, built, shape).verdict();
}

} // namespace vime
