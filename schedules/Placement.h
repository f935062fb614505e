// Placements: which rank holds which stage.
//
//   loopPlacement({.ranks = 2, .microbatches = 4, .chunks = 2})  // 0 1 0 1
#pragma once

#include "schedules/Schedule.h"

#include <string>
#include <variant>

namespace vime {

/// Stage s on rank s. One stage per rank; `chunks` is not looked at.
Placement linearPlacement(ScheduleShape shape);

/// Stage s on rank s mod ranks: the stages go round the ranks `chunks` times.
Placement loopPlacement(ScheduleShape shape);

/// Up the ranks and back: stage s and stage 2 * ranks - 1 - s on the same rank, for any even number
/// of ways. The rank of a turn holds two neighbouring stages.
Placement veePlacement(ScheduleShape shape);

/// Two copies of the model, a stage of each on every rank: the first goes up the ranks, the second
/// down. `chunks` is not looked at.
Placement bothWaysPlacement(ScheduleShape shape);

/// Which copy of the model the stage belongs to, counted from 0.
int copyOf(const Schedule &order, int stage);

/// Stages of one copy.
int depthOf(const Schedule &order);

/// Deals microbatches out to the copies in turn: what a row calls the k-th of its copy becomes
/// microbatch k * copies + copy.
void dealToCopies(Schedule &order);

/// The order with its ranks renamed so that every stage is on the rank that `placement` says, or
/// why that cannot be: stages that share a rank stay together, and no two ranks become one. Of
/// several copies of the model the first is placed so; the others go the opposite way.
std::variant<Schedule, std::string> movedTo(Schedule order, Placement placement);

/// The stages of one rank, in ascending order; the c-th of them is the rank's chunk c.
std::vector<int> stagesOf(const Placement &placement, int rank);

} // namespace vime
