// Phase `comm`: from an order to one program per rank, with transfers, collectives, lanes and the
// logical clock.
//
// What the programs still lack afterwards: buffers, operands and waits (PlanMemory.h).
#pragma once

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"
#include "schedules/Schedule.h"

namespace vime {

/// Stages of a rank that are whole at a time, where replicas share the model; else 0.
std::uint32_t windowOf(const Job &job, const Schedule &order);

/// The programs of the job's training loop; nothing if the order can never finish (rule S2).
/// `family`: the numbers of microbatches that a step can have (StepFamily.h); the order is that of
/// the last one.
std::optional<plan::Plan> lowerCommunication(const Job &job, const Schedule &order,
                                             const std::vector<std::uint32_t> &family,
                                             Findings &findings);

} // namespace vime
