#include "schedules/PipelineClock.h"

#include <algorithm>

#include "schedules/Placement.h"

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

// Whether tasks of one kind come in ascending microbatch, by stage.
struct Ascent {
  explicit Ascent(int stages)
      : last(static_cast<std::size_t>(stages), -1), holds(static_cast<std::size_t>(stages), 1) {}
  void add(const Task &task) {
    holds[task.stage] &= task.microbatch > last[task.stage];
    last[task.stage] = task.microbatch;
  }
  std::vector<int> last;
  std::vector<char> holds;
};

class Simulation {
public:
  Simulation(const Schedule &order, int microbatches, const ReceiveSlots &slots)
      : order(order), microbatches(microbatches), slots(slots), scale(hasLead() ? 2 : 1),
        stages(static_cast<int>(order.placement.size())), depth(depthOf(order)), rings(stages) {
    const std::size_t cells = static_cast<std::size_t>(stages) * microbatches;
    for (auto *times : {&forwardEnd, &gradientEnd, &releaseEnd, &forwardSent, &gradientSent})
      times->assign(cells, kUnknown);
    for (int stage = 0; stage < stages; ++stage) {
      rings[stage].output = sendSlots(stage, stage + 1);
      rings[stage].inputGradient = sendSlots(stage, stage - 1);
    }
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
  /// Of one stage and microbatch.
  template <typename Visit> void visitNodes(int stage, int microbatch, Visit &visit) const {
    const std::size_t at = cell(stage, microbatch);
    const auto sends = [&](NodeKind kind, int time) {
      if (time != kUnknown)
        visit(PipelineNode{kind, stage, microbatch, 2 * time});
    };
    const bool isEarly = slots.leadInto(order.placement[stage]) > 0;
    const auto runs = [&](NodeKind kind, int end, int cost) {
      if (end != kUnknown)
        visit(PipelineNode{kind, stage, microbatch,
                           isEarly ? 2 * end - 1 : 2 * (end - cost * scale) + 1});
    };
    sends(NodeKind::SendForward, forwardSent[at]);
    sends(NodeKind::SendBackward, gradientSent[at]);
    runs(NodeKind::Forward, forwardEnd[at], 1);
    if (gradientEnd[at] == releaseEnd[at]) // a weight gradient comes behind its input gradient
      return runs(NodeKind::Backward, gradientEnd[at], 2);
    runs(NodeKind::BackwardInput, gradientEnd[at], 1);
    runs(NodeKind::BackwardWeight, releaseEnd[at], 1);
  }

  bool hasLead() const {
    for (int rank = 0; rank < static_cast<int>(order.rows.size()); ++rank)
      if (slots.leadInto(rank) > 0)
        return true;
    return false;
  }
  std::size_t cell(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * microbatches + microbatch;
  }
  bool isFirst(int stage) const { return stage % depth == 0; }
  bool isLast(int stage) const { return (stage + 1) % depth == 0; }
  bool leavesRank(int stage, int neighbour) const {
    return !(neighbour < stage ? isFirst(stage) : isLast(stage)) &&
           order.placement[stage] != order.placement[neighbour];
  }
  /// The microbatch whose slot of a ring this one takes; negative if it is the first one there.
  int slotsBefore(int microbatch, int slots) const { return microbatch - slots * order.copies; }

  void sizeRings(const std::vector<Task> &row) {
    order.slices > 1 ? sizeRingsOfSlices(row) : sizeRingsOfWhole(row);
  }

  // Slices come in ascending order and go, those of one microbatch, in descending order: so a ring
  // has room for all from the first that is still there to the newest.
  void sizeRingsOfSlices(const std::vector<Task> &row) {
    std::vector<int> first(stages, 0), widest(stages, 0);
    std::vector<char> gone(static_cast<std::size_t>(stages) * microbatches, 0);
    int rankLive = 0;
    for (const Task &task : row) {
      const int stage = task.stage;
      if (task.kind == TaskKind::Forward) {
        widest[stage] = std::max(widest[stage], task.microbatch - first[stage] + 1);
        peakLive = std::max(peakLive, ++rankLive);
      } else if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardWeight) {
        --rankLive;
        gone[cell(stage, task.microbatch)] = 1;
        while (first[stage] < microbatches && gone[cell(stage, first[stage])])
          ++first[stage];
      }
    }
    for (int stage = 0; stage < stages; ++stage)
      if (widest[stage] > 0) {
        rings[stage].input = withRoom(stage, widest[stage]);
        rings[stage].outputGradient = withRoom(stage, order.slices);
        rings[stage].inputGradient =
            std::min(std::max(rings[stage].inputGradient, order.slices), microbatches);
      }
  }

  // The most microbatches alive at once; all of them where they do not come and go in ascending
  // order, and what is sent in another one needs a slot for each as well.
  void sizeRingsOfWhole(const std::vector<Task> &row) {
    std::vector<int> live(stages, 0), gradients(stages, 0), peak(stages, 0),
        gradientPeak(stages, 0);
    Ascent forwards(stages), inputGradients(stages), releases(stages);
    int rankLive = 0;
    for (const Task &task : row) {
      const int stage = task.stage;
      if (task.kind == TaskKind::Idle)
        continue;
      if (task.kind == TaskKind::Forward) {
        forwards.add(task);
        peak[stage] = std::max(peak[stage], ++live[stage]);
        peakLive = std::max(peakLive, ++rankLive);
        continue;
      }
      if (task.kind != TaskKind::BackwardWeight)
        inputGradients.add(task);
      if (task.kind == TaskKind::BackwardInput) {
        gradientPeak[stage] = std::max(gradientPeak[stage], ++gradients[stage]);
      } else {
        releases.add(task);
        --live[stage];
        --rankLive;
        gradientPeak[stage] = std::max(gradientPeak[stage], 1);
        if (task.kind == TaskKind::BackwardWeight)
          --gradients[stage];
      }
    }
    for (int stage = 0; stage < stages; ++stage)
      if (forwards.last[stage] >= 0) {
        const bool ascends = forwards.holds[stage] && releases.holds[stage];
        Rings &here = rings[stage];
        here.input = ascends ? withRoom(stage, peak[stage]) : microbatches;
        here.outputGradient = ascends ? withRoom(stage, gradientPeak[stage]) : microbatches;
        if (!forwards.holds[stage])
          here.output = microbatches;
        if (!inputGradients.holds[stage])
          here.inputGradient = microbatches;
      }
  }

  /// Of a receiving ring: a message can arrive while those before it are in use.
  int withRoom(int stage, int live) const {
    return std::min(std::max(live, 1) + slots.into(order.placement[stage]) - 1, microbatches);
  }
  /// As many are on their way as the receiver has slots for.
  int sendSlots(int stage, int receiver) const {
    return std::min(leavesRank(stage, receiver)
                        ? std::max(slots.into(order.placement[receiver]), kUsualSlots)
                        : kUsualSlots,
                    microbatches);
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
    if (const int before = slotsBefore(microbatch, slots);
        before >= 0 && (free = releaseEnd[cell(receiver, before)]) == kUnknown)
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

  /// What is sent at a known time, when it is there.
  int arrivalOf(int sent, int receiver) const {
    return sent == kUnknown ? kUnknown : sent + slots.leadInto(order.placement[receiver]);
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
    clock = start + costOf(task.kind) * scale;
    const std::size_t at = cell(task.stage, task.microbatch);
    if (task.kind == TaskKind::Forward)
      forwardEnd[at] = clock;
    if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput)
      gradientEnd[at] = clock;
    if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardWeight)
      releaseEnd[at] = clock;
    busy += costOf(task.kind);
    return true;
  }

  template <typename After> bool inputsKnown(const Task &task, After &after) {
    const int stage = task.stage, microbatch = task.microbatch;
    switch (task.kind) {
    case TaskKind::Forward:
      if (microbatch % order.slices != 0 && !after(forwardEnd[cell(stage, microbatch - 1)]))
        return false; // attention to the slice before
      return isFirst(stage) || after(leavesRank(stage - 1, stage)
                                         ? arrivalOf(activationSentAt(stage - 1, microbatch), stage)
                                         : forwardEnd[cell(stage - 1, microbatch)]);
    case TaskKind::Backward:
    case TaskKind::BackwardInput:
      if (!after(forwardEnd[cell(stage, microbatch)]) ||
          ((microbatch + 1) % order.slices != 0 &&
           !after(gradientEnd[cell(stage, microbatch + 1)])))
        return false;
      return isLast(stage) || after(leavesRank(stage + 1, stage)
                                        ? arrivalOf(gradientSentAt(stage + 1, microbatch), stage)
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
    if (task.kind == TaskKind::Forward && leavesRank(stage, stage + 1)) {
      const int before = slotsBefore(microbatch, rings[stage].output);
      return before < 0 || after(activationSentAt(stage, before));
    }
    if ((task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput) &&
        leavesRank(stage, stage - 1)) {
      const int before = slotsBefore(microbatch, rings[stage].inputGradient);
      return before < 0 || after(gradientSentAt(stage, before));
    }
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

  const Schedule &order;
  const int microbatches;
  const ReceiveSlots &slots;
  const int scale;         // times in a unit: leads are halves of one
  const int stages, depth; // depth: of one copy
  std::vector<Rings> rings;
  std::vector<int> forwardEnd, gradientEnd, releaseEnd, forwardSent, gradientSent; // by cell
  int makespan = 0;
  int peakLive = 0;
  std::int64_t busy = 0;
};

PipelineClock Simulation::list() const {
  // Sorted by (time, transfers before tasks, stage): a transfer is dispatched before the task that
  // would keep its rank busy, and no task starts at the time at which one that it needs starts,
  // since tasks last. On a rank with more slots tasks stand where they end, so that a transfer that
  // begins while one runs is dispatched before it. What happens at one time is listed alike
  // whenever it happens again.
  std::vector<std::uint32_t> begin(2 * static_cast<std::size_t>(makespan) + 3, 0);
  auto forEach = [&](auto &&visit) {
    for (int stage = 0; stage < stages; ++stage)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch)
        visitNodes(stage, microbatch, visit);
  };
  std::size_t count = 0;
  forEach([&](const PipelineNode &node) { ++begin[node.time + 1], ++count; });
  for (std::size_t key = 1; key < begin.size(); ++key)
    begin[key] += begin[key - 1];
  PipelineClock clock;
  clock.nodes.resize(count);
  forEach([&](const PipelineNode &node) { clock.nodes[begin[node.time]++] = node; });
  clock.perUnit = 2 * scale;
  clock.makespan = (makespan + scale - 1) / scale;
  clock.busy = busy;
  clock.peakLive = peakLive;
  const double capacity =
      static_cast<double>(clock.makespan) * static_cast<double>(order.rows.size());
  clock.bubble = capacity > 0 ? 1.0 - static_cast<double>(busy) / capacity : 0.0;
  return clock;
}

} // namespace

std::optional<PipelineClock> layClock(const Schedule &order, int microbatches,
                                      const ReceiveSlots &slots) {
  Simulation simulation(order, microbatches, slots);
  if (!simulation.run())
    return std::nullopt;
  return simulation.list();
}

bool accumulates(const PipelineNode &node) {
  return node.kind == NodeKind::Backward || node.kind == NodeKind::BackwardWeight;
}

std::vector<int> clearingMicrobatches(const PipelineClock &clock, std::size_t stages) {
  std::vector<int> clearing(stages, -1);
  for (const PipelineNode &node : clock.nodes)
    if (int &first = clearing[static_cast<std::size_t>(node.stage)]; first < 0 && accumulates(node))
      first = node.microbatch;
  return clearing;
}

} // namespace vime
