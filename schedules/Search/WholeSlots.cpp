#include "schedules/Search/WholeSlots.h"
#include "schedules/Placement.h"

#include <algorithm>

namespace vime {

namespace {

constexpr int kPeriod = 6;

// Tasks in slots. A backward takes two; the activation is released in the second.
class Slots {
public:
  Slots(const WholeBlock &block, ScheduleShape shape)
      : ranks(shape.ranks), microbatches(shape.microbatches), order{veePlacement(shape), {}} {
    const int length = block.backward[0][0] + 2 + kPeriod * (microbatches - 1);
    order.rows.assign(static_cast<std::size_t>(ranks),
                      std::vector<Task>(static_cast<std::size_t>(length), kFree));
    for (int rank = 0; rank < ranks; ++rank)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch)
        for (const int chunk : {0, 1}) {
          const int stage = chunk == 0 ? rank : 2 * ranks - 1 - rank;
          const int later = kPeriod * microbatch;
          put(rank, block.forward[chunk][rank] + later, {TaskKind::Forward, stage, microbatch});
          put(rank, block.backward[chunk][rank] + later, {TaskKind::Backward, stage, microbatch});
        }
    countAlive();
  }

  /// In the sequence of their slots, so that what a task needs has moved before it.
  Schedule moveForward() {
    ends[0].assign(order.placement.size() * static_cast<std::size_t>(microbatches), 0);
    ends[1] = ends[0];
    for (std::size_t slot = 0; slot < order.rows[0].size(); ++slot)
      for (int rank = 0; rank < ranks; ++rank)
        if (const Task task = order.rows[rank][slot]; task.microbatch >= 0)
          move(rank, static_cast<int>(slot), task);
    for (std::vector<Task> &row : order.rows)
      std::erase_if(row, [](const Task &task) { return task.microbatch < 0; });
    return std::move(order);
  }

private:
  static constexpr Task kFree{TaskKind::Idle, -1, -1};
  static constexpr Task kSecondHalf{TaskKind::Backward, -1, -1};

  bool isFree(int rank, int slot) const { return order.rows[rank][slot].kind == TaskKind::Idle; }

  void put(int rank, int slot, Task task) {
    order.rows[rank][slot] = task;
    if (task.kind == TaskKind::Backward)
      order.rows[rank][slot + 1] = kSecondHalf;
  }

  void countAlive() {
    for (const std::vector<Task> &row : order.rows) {
      int now = 0;
      std::vector<int> &counts = alive.emplace_back();
      for (const Task &task : row) {
        now += task.kind == TaskKind::Forward;
        now -= task == kSecondHalf;
        counts.push_back(now);
        peak = std::max(peak, now);
      }
    }
  }

  // The slot behind a task that has moved already; 0 of one that there is not.
  int &endOf(TaskKind kind, int stage, int microbatch) {
    return ends[kind == TaskKind::Backward][static_cast<std::size_t>(stage) * microbatches +
                                            static_cast<std::size_t>(microbatch)];
  }

  int readyAt(const Task &task) {
    const int stages = static_cast<int>(order.placement.size());
    int ready = task.microbatch > 0 ? endOf(task.kind, task.stage, task.microbatch - 1) : 0;
    if (task.kind == TaskKind::Forward)
      return task.stage == 0 ? ready
                             : std::max(ready, endOf(task.kind, task.stage - 1, task.microbatch));
    return std::max(ready, task.stage + 1 == stages
                               ? endOf(TaskKind::Forward, task.stage, task.microbatch)
                               : endOf(task.kind, task.stage + 1, task.microbatch));
  }

  void move(int rank, int from, const Task &task) {
    const bool isForward = task.kind == TaskKind::Forward;
    int to = isForward ? from : readyAt(task);
    if (isForward)
      for (const int ready = readyAt(task); to > ready && alive[rank][to - 1] < peak;)
        --to;
    while (to < from && !(isFree(rank, to) && (isForward || isFree(rank, to + 1))))
      ++to;
    if (to < from) {
      for (const int half : {0, 1})
        if (half == 0 || !isForward)
          order.rows[rank][from + half] = kFree;
      put(rank, to, task);
      for (int slot = to; slot < from; ++slot)
        alive[rank][slot + !isForward] += isForward ? 1 : -1;
    }
    endOf(task.kind, task.stage, task.microbatch) = to + (isForward ? 1 : 2);
  }

  const int ranks, microbatches;
  Schedule order;
  std::vector<std::vector<int>> alive; // per rank and slot
  int peak = 0;                        // on any rank
  std::vector<int> ends[2];            // of forwards, of backwards
};

} // namespace

Schedule pulledForward(const WholeBlock &block, ScheduleShape shape) {
  return Slots(block, shape).moveForward();
}

} // namespace vime
