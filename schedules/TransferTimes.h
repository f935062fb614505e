// TransferTimes: what a step costs when transfers have places among the tasks, as plans have them.
//
//   const std::optional<std::int64_t> two = timeWithSlots(oneFOneB, {10, 10, 10, 1}, /*slots=*/2);
//
// Every rank dispatches tasks and transfers in the sequence of one clock, that of unit costs with
// free transfers, and a transfer begins when both of its ends have come to it. So where a receive
// stands decides how long its sender is held: as early as a slot is free for what it brings, or
// just before the task that needs it.
#pragma once

#include "schedules/Schedule.h"

#include <cstdint>
#include <optional>

namespace vime {

/// The makespan with so many slots on the receiving end of each channel, from 1. Messages of a
/// channel, which goes from rank to rank and one way, arrive in the sequence in which they were
/// made. Nothing if messages are needed in a sequence that so few slots cannot hold, or if the
/// order never finishes.
std::optional<std::int64_t> timeWithSlots(const Schedule &order, UnitCosts costs, int slots);

/// The makespan with receives just before their tasks. Where both ends have a task at one time,
/// that of the lower rank goes first.
std::optional<std::int64_t> timeOfLateReceives(const Schedule &order, UnitCosts costs);

/// Ends of channels on the rank that has most of them: what a slot more costs it, in messages.
int mostReceivingChannels(const Schedule &order);

} // namespace vime
