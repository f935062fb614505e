// reclock: gives a plan whose actions were moved a clock again, so that it is judged for what it
// does and not for times that nobody made for it.
//
// Loops keep trips and proportions; bases are the least that ascend along every rank's dispatch
// order and are one where ranks meet.
#pragma once

#include "runtime/Plan/Plan.h"

namespace vime {

/// False, and the plan as it was, if there is no such clock, or if no reader takes the plan.
bool reclock(plan::Plan &plan);

} // namespace vime
