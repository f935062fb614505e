// Needs: what a task waits for and what it makes; the one place that says how tasks depend on each
// other.
//
//   needsOf({TaskKind::Backward, 2, 5}, order)  // 2's output and the gradient of 3, of microbatch
//   5
#pragma once

#include "schedules/Schedule.h"

#include <array>
#include <cstddef>
#include <optional>

namespace vime {

/// What a stage passes down, and what it passes up.
enum class Passed : std::uint8_t { Output, Gradient };

struct Need {
  Passed value;
  int stage;
  int microbatch;
};

/// At most three: the stage's own output, what the neighbour sends, what another slice leaves.
struct Needs {
  std::array<Need, 3> list{};
  std::size_t count = 0;
  void add(Passed value, int stage, int microbatch) { list[count++] = {value, stage, microbatch}; }
  const Need *begin() const { return list.data(); }
  const Need *end() const { return list.data() + count; }
};

/// Stages and microbatches need not exist; an idle slot needs nothing.
Needs needsOf(const Task &task, const Schedule &order);

/// What the task makes; null for a weight gradient, which nobody in the order waits for.
std::optional<Need> madeBy(const Task &task);

} // namespace vime
