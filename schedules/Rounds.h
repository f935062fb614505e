// Rounds: which chunk of a rank comes next when microbatches go round its chunks in groups.
//
//   chunksInTurn({.ranks = 2, .microbatches = 5, .chunks = 2}, /*group=*/3)
//   // 0 0 0 1 1 1 0 0 1 1: the last group is smaller
#pragma once

#include "schedules/Registry.h"

namespace vime {

/// The chunk of each forward of a rank, in order: a group of microbatches passes through one chunk
/// before it goes on to the next. Backwards take the chunks the other way round: of each number c
/// here, `chunks - 1 - c`.
std::vector<int> chunksInTurn(ScheduleShape shape, int group);

/// Microbatches of one of the max(1, microbatches div ranks) rounds of one size that PyTorch makes.
int sizeOfRound(ScheduleShape shape);

/// Where such rounds are not of one size. A remainder would leave one of them short: its steady
/// part would miss microbatches.
std::optional<Refusal> refuseUnevenRounds(ScheduleShape shape);

} // namespace vime
