// A schedule: which rank holds which stage, and in which order each rank runs its tasks.
//
//   Schedule order = oneFOneB({.ranks = 4, .microbatches = 8});
//   order.rows[0]  // 0F0 0F1 0F2 0F3 0B0 0F4 0B1 ...
//
// Plain data: an order knows nothing of time, memory or transfers. Whether it is legal, how long it
// takes and what it must send is decided by others.
#pragma once

#include <cstdint>
#include <vector>

namespace vime {

enum class TaskKind : std::uint8_t {
  Forward,
  Backward,
  BackwardInput,
  BackwardWeight,
  Idle // a free slot, dropped by the lowering
};

struct Task {
  TaskKind kind;
  int stage;
  int microbatch;
  bool overlapsNext = false; // a pair with the task after it, run together where that is faster
  bool operator==(const Task &) const = default;
};

/// What a task costs, in any unit: the time of one stage and one microbatch.
struct UnitCosts {
  int forward = 1;
  int backwardInput = 1;
  int backwardWeight = 1;
  int transfer = 0;            // from one rank to another
  int of(TaskKind kind) const; // a whole backward is both of its halves
  bool operator==(const UnitCosts &) const = default;
};

/// The numbers an order is built for. Zero, `false` and the usual costs: left to the order.
struct ScheduleShape {
  int ranks;
  int microbatches;
  int chunks = 1;       // stages per rank
  int group = 0;        // microbatches in a row on one chunk
  int memory = 0;       // most activations (stage × microbatch) alive on a rank
  int slices = 1;       // of the sequence of a microbatch
  bool overlap = false; // forwards and backwards as overlapped pairs
  UnitCosts costs{};
  int stages() const { return ranks * chunks; }
};

using Placement = std::vector<int>; // rank of each stage, stage 0 first

struct Schedule {
  Placement placement;
  std::vector<std::vector<Task>> rows; // one per rank, in order of execution

  /// The model stands on the ranks so many times, one copy after the other in `placement`: with 4
  /// stages in 2 copies, stage 5 is the second copy of stage 1. A microbatch passes through one.
  int copies = 1;
  /// Microbatches are cut into so many slices, each a task of its own: with 4 slices, microbatch 6
  /// is slice 2 of the second. Forwards need the slice before, backwards the slice after.
  int slices = 1;
};

} // namespace vime
