// Whole slots: orders of two stages per rank, down the ranks and back up again, with whole
// backwards, made by repeating one microbatch's tasks.
//
//   Schedule order = pulledForward(blockOf(shape.ranks), shape);
//
// A slot is as long as a forward, and half as long as a backward. With backwards in two:
// VeeSlots.h.
#pragma once

#include "schedules/Schedule.h"

#include <vector>

namespace vime {

/// Slots of the tasks of microbatch 0 on every rank; the others follow a period of six apart: two
/// forwards, and two backwards that are twice as long.
struct WholeBlock {
  std::vector<int> forward[2], backward[2]; // of chunk 0, which goes down, and 1; per rank
};

/// The repeated block, every task as far forward as it may without more microbatches alive on its
/// rank than the fullest rank had.
Schedule pulledForward(const WholeBlock &block, ScheduleShape shape);

} // namespace vime
