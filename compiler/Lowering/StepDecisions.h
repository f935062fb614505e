// StepDecisions: what may differ from step to step, and the conditions that ask for it.
//
//   nameDecisions(job, members, plan);
//   programs.beginCase(conditionOf(plan, {Decision::Save, Comparison::Equal, 1}));
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/StepMembers.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Whether the run may end before its last step.
bool endsEarly(const Job &job);

/// Appends them to the plan, whose settings of rounds are known, in the order of their enumeration.
/// `members`: of a pass, at least one.
void nameDecisions(const Job &job, const std::vector<StepMember> &members, plan::Plan &plan);

/// Its place in Plan::conditions, from 1 on: made at first use.
std::uint8_t conditionOf(plan::Plan &plan, const plan::Condition &wanted);

} // namespace vime
