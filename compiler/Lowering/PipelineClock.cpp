#include "compiler/Lowering/PipelineClock.h"

#include <algorithm>

namespace vime {
namespace {

constexpr int kUnknown = -1;

int costOf(TaskKind kind) { return kind == TaskKind::Backward ? 2 : 1; }

// Slots of the rings of one stage. Every ring is addressed by microbatch modulo its slots.
struct Rings {
  int input = 1;          // received activations
  int outputGradient = 1; // received gradients
  int output = 2;         // activations being sent
  int inputGradient = 2;  // gradients being sent
};

// One slot more than the tasks need, two at least: a message can arrive while its predecessor is in
// use.
int withPrefetch(int live, int microbatches) {
  return std::min(std::max(live + 1, 2), microbatches);
}

class Simulation {
public:
  Simulation(const Schedule &order, int microbatches)
      : order(order), microbatches(microbatches), stages(static_cast<int>(order.placement.size())),
        rings(stages) {
    const std::size_t cells = static_cast<std::size_t>(stages) * microbatches;
    for (auto *times : {&forwardEnd, &gradientEnd, &releaseEnd, &forwardSent, &gradientSent})
      times->assign(cells, kUnknown);
    for (int stage = 0; stage < stages; ++stage)
      rings[stage].output = rings[stage].inputGradient = std::min(2, microbatches);
    for (const auto &row : order.rows)
      sizeRings(row);
  }

  bool run() {
    std::vector<std::size_t> next(order.rows.size(), 0);
    std::vector<int> clock(order.rows.size(), 0);
    for (;;) {
      bool progressed = false, finished = true;
      for (std::size_t rank = 0; rank < order.rows.size(); ++rank) {
        const auto &row = order.rows[rank];
        const std::size_t before = next[rank];
        while (next[rank] < row.size() && runTask(row[next[rank]], clock[rank]))
          ++next[rank];
        progressed |= next[rank] != before;
        finished &= next[rank] == row.size();
        makespan = std::max(makespan, clock[rank]);
      }
      if (finished)
        return true;
      if (!progressed && !widenBlockedRings(next))
        return false;
    }
  }

  PipelineClock list() const;

private:
  std::size_t cell(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * microbatches + microbatch;
  }
  bool leavesRank(int stage, int neighbour) const {
    return neighbour >= 0 && neighbour < stages &&
           order.placement[stage] != order.placement[neighbour];
  }

  // The most microbatches alive at once; all of them where they do not come and go in ascending
  // order.
  void sizeRings(const std::vector<Task> &row) {
    std::vector<int> live(stages, 0), gradients(stages, 0), peak(stages, 0),
        gradientPeak(stages, 0);
    std::vector<int> lastIn(stages, -1), lastOut(stages, -1);
    std::vector<char> ascending(stages, 1);
    auto ascend = [&](std::vector<int> &last, const Task &task) {
      ascending[task.stage] &= task.microbatch > last[task.stage];
      last[task.stage] = task.microbatch;
    };
    int rankLive = 0;
    for (const Task &task : row) {
      const int stage = task.stage;
      if (task.kind == TaskKind::Idle)
        continue;
      if (task.kind == TaskKind::Forward) {
        ascend(lastIn, task);
        peak[stage] = std::max(peak[stage], ++live[stage]);
        peakLive = std::max(peakLive, ++rankLive);
      } else if (task.kind == TaskKind::BackwardInput) {
        gradientPeak[stage] = std::max(gradientPeak[stage], ++gradients[stage]);
      } else {
        ascend(lastOut, task);
        --live[stage];
        --rankLive;
        gradientPeak[stage] = std::max(gradientPeak[stage], 1);
        if (task.kind == TaskKind::BackwardWeight)
          --gradients[stage];
      }
    }
    for (int stage = 0; stage < stages; ++stage)
      if (lastIn[stage] >= 0) {
        rings[stage].input =
            ascending[stage] ? withPrefetch(peak[stage], microbatches) : microbatches;
        rings[stage].outputGradient =
            ascending[stage] ? withPrefetch(gradientPeak[stage], microbatches) : microbatches;
      }
  }

  // Time at which the message fires, if it is known by now: producer done and receive slot free.
  int sentAt(std::vector<int> &sent, const std::vector<int> &produced, int stage, int receiver,
             int slots, int microbatch) {
    int &time = sent[cell(stage, microbatch)];
    if (time != kUnknown)
      return time;
    const int ready = produced[cell(stage, microbatch)];
    if (ready == kUnknown)
      return kUnknown;
    int free = 0;
    if (microbatch >= slots && (free = releaseEnd[cell(receiver, microbatch - slots)]) == kUnknown)
      return kUnknown;
    return time = std::max(ready, free);
  }
  int activationSentAt(int stage, int microbatch) {
    return sentAt(forwardSent, forwardEnd, stage, stage + 1, rings[stage + 1].input, microbatch);
  }
  int gradientSentAt(int stage, int microbatch) {
    return sentAt(gradientSent, gradientEnd, stage, stage - 1, rings[stage - 1].outputGradient,
                  microbatch);
  }

  // Runs the task if all it needs is known; `clock` is when its rank becomes idle.
  bool runTask(const Task &task, int &clock) {
    if (task.kind == TaskKind::Idle)
      return true;
    int start = clock;
    auto after = [&](int time) {
      start = std::max(start, time);
      return time != kUnknown;
    };
    if (!inputsKnown(task, after) || !sendSlotKnown(task, after))
      return false;
    clock = start + costOf(task.kind);
    const std::size_t at = cell(task.stage, task.microbatch);
    if (task.kind == TaskKind::Forward)
      forwardEnd[at] = clock;
    if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput)
      gradientEnd[at] = clock;
    if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardWeight)
      releaseEnd[at] = clock;
    busy += costOf(task.kind);
    started.push_back({task, start});
    return true;
  }

  template <typename After> bool inputsKnown(const Task &task, After &after) {
    const int stage = task.stage, microbatch = task.microbatch;
    switch (task.kind) {
    case TaskKind::Forward:
      return stage == 0 ||
             after(leavesRank(stage - 1, stage) ? activationSentAt(stage - 1, microbatch)
                                                : forwardEnd[cell(stage - 1, microbatch)]);
    case TaskKind::Backward:
    case TaskKind::BackwardInput:
      if (!after(forwardEnd[cell(stage, microbatch)]))
        return false;
      return stage + 1 == stages ||
             after(leavesRank(stage + 1, stage) ? gradientSentAt(stage + 1, microbatch)
                                                : gradientEnd[cell(stage + 1, microbatch)]);
    case TaskKind::BackwardWeight:
      return after(gradientEnd[cell(stage, microbatch)]);
    case TaskKind::Idle:
      break;
    }
    return true;
  }

  // The slot that the result goes to was sent.
  template <typename After> bool sendSlotKnown(const Task &task, After &after) {
    const int stage = task.stage, microbatch = task.microbatch;
    if (task.kind == TaskKind::Forward && leavesRank(stage, stage + 1) &&
        microbatch >= rings[stage].output)
      return after(activationSentAt(stage, microbatch - rings[stage].output));
    if ((task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput) &&
        leavesRank(stage, stage - 1) && microbatch >= rings[stage].inputGradient)
      return after(gradientSentAt(stage, microbatch - rings[stage].inputGradient));
    return true;
  }

  // An order may run ahead of its receiver by more than two messages: give the sender who waits for
  // a slot one more.
  bool widenBlockedRings(const std::vector<std::size_t> &next) {
    bool widened = false;
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank) {
      if (next[rank] == order.rows[rank].size())
        continue;
      const Task &task = order.rows[rank][next[rank]];
      auto ignore = [](int time) { return time != kUnknown; };
      if (!inputsKnown(task, ignore) || sendSlotKnown(task, ignore))
        continue;
      ++(task.kind == TaskKind::Forward ? rings[task.stage].output
                                        : rings[task.stage].inputGradient);
      widened = true;
    }
    return widened;
  }

  struct Started {
    Task task;
    int time;
  };

  const Schedule &order;
  const int microbatches;
  const int stages;
  std::vector<Rings> rings;
  std::vector<int> forwardEnd, gradientEnd, releaseEnd, forwardSent, gradientSent; // by cell
  std::vector<Started> started;
  int makespan = 0;
  int peakLive = 0;
  long busy = 0;
};

NodeKind nodeKindOf(TaskKind kind) {
  switch (kind) {
  case TaskKind::Forward:
    return NodeKind::Forward;
  case TaskKind::BackwardInput:
    return NodeKind::BackwardInput;
  case TaskKind::BackwardWeight:
    return NodeKind::BackwardWeight;
  default:
    return NodeKind::Backward;
  }
}

PipelineClock Simulation::list() const {
  // Sorted by (time, transfers before tasks): a transfer is dispatched before the task that would
  // keep its rank busy, and no task starts at the time at which one that it needs starts, since
  // tasks last.
  std::vector<std::uint32_t> begin(2 * static_cast<std::size_t>(makespan) + 3, 0);
  auto forEach = [&](auto &&visit) {
    for (int stage = 0; stage < stages; ++stage)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
        if (const int time = forwardSent[cell(stage, microbatch)]; time != kUnknown)
          visit(2 * time, PipelineNode{NodeKind::SendForward, stage, microbatch});
        if (const int time = gradientSent[cell(stage, microbatch)]; time != kUnknown)
          visit(2 * time, PipelineNode{NodeKind::SendBackward, stage, microbatch});
      }
    for (const auto &[task, time] : started)
      visit(2 * time + 1, PipelineNode{nodeKindOf(task.kind), task.stage, task.microbatch});
  };
  std::size_t count = 0;
  forEach([&](int key, const PipelineNode &) { ++begin[key + 1], ++count; });
  for (std::size_t key = 1; key < begin.size(); ++key)
    begin[key] += begin[key - 1];
  PipelineClock clock;
  clock.nodes.resize(count);
  forEach([&](int key, const PipelineNode &node) { clock.nodes[begin[key]++] = node; });
  clock.makespan = makespan;
  clock.peakLive = peakLive;
  const double capacity = static_cast<double>(makespan) * static_cast<double>(order.rows.size());
  clock.bubble = capacity > 0 ? 1.0 - static_cast<double>(busy) / capacity : 0.0;
  return clock;
}

} // namespace

std::optional<PipelineClock> layClock(const Schedule &order, int microbatches) {
  Simulation simulation(order, microbatches);
  if (!simulation.run())
    return std::nullopt;
  return simulation.list();
}

} // namespace vime
