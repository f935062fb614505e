// OrderRun: whether an order of tasks trains a step, by the definition of one: every stage runs
// every microbatch forward once and backward once (whole, or as an input and then a weight
// gradient), on one rank, each behind what it needs, and every rank goes through its row to the
// end.
#pragma once

#include <string>

#include "schedules/Schedule.h"

namespace vime::interpreter {

/// What is wrong; empty if nothing.
std::string runOrder(const Schedule &order, int microbatches);

} // namespace vime::interpreter
