// UpdatePlan: what a phase changed in the flat plan goes back into the ops.
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace vime::ir {

/// Makes the ops say what `plan` says. Ops of actions are kept and changed in place where the
/// program still has as many of the same kinds. Without programs in `plan`, those in the IR stay as
/// they are. False, and nothing changed, if a program lacks the form that BuildPlan.h asks for.
bool updatePlan(PlanOp op, const plan::Plan &plan);

} // namespace vime::ir
