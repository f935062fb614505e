// SlotsForCosts: how many receive slots an order has a use for where transfers take time.
//
//   timeWithSlots(oneFOneB, 8, {10, 10, 10, 1}, ReceiveSlots{{3}}) // 346, as if transfers held
//   nobody slotsForCosts(oneFOneB, 8, {10, 10, 10, 1})                    // 3
#pragma once

#include "schedules/ReceiveSlots.h"
#include "schedules/Schedule.h"

#include <cstdint>
#include <optional>

namespace vime {

/// What a step takes when every rank dispatches its part of the clock and each message passes only
/// while both ends wait for it. Nothing if the order can never finish.
std::optional<std::int64_t> timeWithSlots(const Schedule &order, int microbatches, UnitCosts costs,
                                          const ReceiveSlots &slots);

/// The fewest on all channels, two at least, with which a step takes at most half a percent longer
/// than with any other number worth trying.
int slotsForCosts(const Schedule &order, int microbatches, UnitCosts costs);

} // namespace vime
