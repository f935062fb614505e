// DualPipeRow: the row of one rank whose two stages are a way down the ranks and a way back.
//
//   dualPipeRow(/*rank=*/0, /*ranks=*/2, /*microbatches=*/4, {0, 3});
//
// The two ways may belong to one copy of the model, which turns at the last rank (DualPipeV), or
// to two, which meet in the middle of twice as many ranks (DualPipe).
#pragma once

#include "schedules/Schedule.h"

#include <vector>

namespace vime {

/// `rank` of `ranks`, the last of which holds the end of the way down and the beginning of the way
/// back; `stages`: that on the way down, and the other. Each runs as many microbatches, 2 * ranks
/// at least.
std::vector<Task> dualPipeRow(int rank, int ranks, int microbatches, std::vector<int> stages);

} // namespace vime
