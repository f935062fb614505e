// The plan of an order without a job: around a model that computes nothing, so that an order can be
// judged and run for itself.
#pragma once

#include <optional>
#include <string>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Lowering/FinishPlan.h"
#include "schedules/Schedule.h"

namespace vime {

/// Its plan, as all phases leave it, of one step of microbatches of one sample of eight tokens,
/// with the order's name as schedule; nothing, and findings, if the lowering refuses the order. Not
/// judged yet.
std::optional<plan::Plan> planOfOrder(const Schedule &order, int microbatches,
                                      const std::string &name, const TextFacts &text,
                                      Findings &findings);

} // namespace vime
