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
  bool operator==(const Task &) const = default;
};

/// The numbers an order is built for.
struct ScheduleShape {
  int ranks;
  int microbatches;
  int chunks = 1; // stages per rank
  int stages() const { return ranks * chunks; }
};

using Placement = std::vector<int>; // rank of each stage, stage 0 first

struct Schedule {
  Placement placement;
  std::vector<std::vector<Task>> rows; // one per rank, in order of execution
};

} // namespace vime
