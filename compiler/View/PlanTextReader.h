// PlanTextReader: the text form of a plan, read back.
//
//   StatusOr<plan::Plan> plan = parsePlanText(text);   // planText(*plan) == text
//
// Takes what `planText` prints, whatever comments, blank lines and blanks were changed. Refuses
// everything else with line and column. Says nothing about whether the plan is sound: `checkPlan`
// and the judges do.
#pragma once

#include <string_view>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// InvalidInput and `12:7: expected …` for a text that is no plan.
StatusOr<plan::Plan> parsePlanText(std::string_view text);

} // namespace vime
