// PipelineClock: in which order the tasks and transfers of one step happen, over all ranks.
//
// Runs the schedule in unit time (F = I = W = 1, B = 2) under the buffers it will have, and lists
// its nodes so that every dependence, every rank's task order and every reuse of a buffer slot goes
// forward in the list. Each rank dispatches its part in this order; so no serialisation of a rank's
// queues can close a cycle (execution-model.md, Transport theorem).
//
// A transfer stands as early as its producer and its receive slot allow: with two slots, rings have
// room for one message more than the tasks alone would need, so a receive never holds the sender
// back ("Where transfers stand"). Transfers are free unless there are more slots (ReceiveSlots.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedules/ReceiveSlots.h"
#include "schedules/Schedule.h"

namespace vime {

enum class NodeKind : std::uint8_t {
  Forward,
  Backward,
  BackwardInput,
  BackwardWeight,
  SendForward,
  SendBackward
};
constexpr int kNodeKinds = 6;

/// A task, or the transfer of what `stage` produced for `microbatch` to the next (SendForward) or
/// previous stage.
struct PipelineNode {
  NodeKind kind;
  std::int32_t stage;
  std::int32_t microbatch;
  std::int32_t time; // in parts of a unit (PipelineClock::perUnit): transfers at even times, tasks
                     // at odd ones
};

struct PipelineClock {
  std::vector<PipelineNode> nodes; // in clock order
  int perUnit = 2;                 // parts of a unit in which nodes have their time
  int makespan = 0;                // unit times
  std::int64_t busy = 0;           // unit times of all ranks
  int peakLive = 0;  // most microbatches of one rank between forward and release, all its stages
  double bubble = 0; // idle fraction of ranks * makespan
};

/// Whether it adds to the gradients of its stage.
bool accumulates(const PipelineNode &node);

/// Of each stage the microbatch whose weight gradient clears those of the last step: its tasks run
/// also if it is empty. -1 in a pass without gradients.
std::vector<int> clearingMicrobatches(const PipelineClock &clock, std::size_t stages);

/// Nothing if the order can never finish: a task waits for one that stands behind it.
std::optional<PipelineClock> layClock(const Schedule &order, int microbatches,
                                      const ReceiveSlots &slots = {});

} // namespace vime
