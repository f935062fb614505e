// The timeline of an order without a plan, on the clock of its costs. Of one that never finishes as
// far as it comes; behind that, in red, the tasks that wait for each other.
#pragma once

#include <string>

#include "compiler/View/Timeline.h"
#include "schedules/Schedule.h"

namespace vime {

Timeline timelineOf(const Schedule &order, std::string title, UnitCosts costs = {});

} // namespace vime
