// OrderJudge: whether a built order is legal, judged by plain rules that share nothing with makers
// and simulator.
#pragma once

#include <string>

#include "schedules/Registry.h"

namespace vime {

/// "legal", or the first rule that the order breaks: tasks on the ranks of their stages; once F,
/// and once B or once each I and W, for every stage and microbatch (F alone where the rule does not
/// train); gradients summed in ascending microbatch where the rule says so of itself; pairs of a
/// forward and a backward that do not wait for each other; every task's turn comes.
std::string verdictOn(const Order &rule, const Schedule &built, ScheduleShape shape);

} // namespace vime
