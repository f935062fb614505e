// PlanText: a plan as `vimec show` prints it.
//
//   planSummary(plan)   what a person wants to know first
//   planGrid(plan)      the order it runs, as the papers draw it
//   planText(plan)      all of it, a line for a thing; nothing is lost
//   planJson(plan)      all of it, for programs
//
// All are made from the plan alone, whatever order, job or compiler it came from.
#pragma once

#include <string>

#include "compiler/View/Summary.h"
#include "runtime/Plan/Plan.h"
#include "schedules/Schedule.h"

namespace vime {

/// Every field of the plan, in the grammar of compiler/docs/plan-format.md. What follows ` # ` in a
/// line is for people.
std::string planText(const plan::Plan &plan);

/// One JSON object, with the tensors of the models. No line end behind it.
std::string planJson(const plan::Plan &plan);

/// The order that the programs contain: the tasks of each pipeline coordinate in dispatch order, of
/// one step.
Schedule orderOf(const plan::Plan &plan);

/// `orderOf` on the clock of unit costs (schedules/Notation.h).
std::string planGrid(const plan::Plan &plan);

} // namespace vime
