// Phase `order`: the schedule that the job names, for its ranks, chunks and microbatches, with
// halves of backwards merged as the job says.
#pragma once

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "schedules/Schedule.h"

#include <optional>

namespace vime {

/// Nothing, and a finding, if the order cannot be built for the job's numbers.
std::optional<Schedule> buildOrder(const Job &job, Findings &findings);

/// Whether every rank's transfers have a lane each; a finding if not.
bool hasRoomForLanes(const Schedule &order, const SourceSpan &place, Findings &findings);

} // namespace vime
