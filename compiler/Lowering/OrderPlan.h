// The plan of an order without a job: around a model that computes nothing, so that an order can be
// judged and run for itself.
#pragma once

#include <optional>
#include <string>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/FinishPlan.h"
#include "schedules/Schedule.h"

namespace vime {

/// A job of one step, one layer a stage and microbatches of one sample of eight tokens, with the
/// order's name as schedule.
Job nullJobOf(const Schedule &order, int microbatches, const std::string &name);

/// Its plan, as all phases leave it; nothing, and findings, if the lowering refuses the order. Not
/// judged yet.
std::optional<plan::Plan> planOfOrder(const Schedule &order, int microbatches,
                                      const std::string &name, const TextFacts &text,
                                      Findings &findings);

} // namespace vime
