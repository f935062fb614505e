// How many messages the channels of a job's plan have room for, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"
#include "schedules/ReceiveSlots.h"
#include "schedules/Schedule.h"

namespace vime {

/// As the job states them, or the usual ones.
ReceiveSlots receiveSlotsOf(const Job &job);

/// The programs of phase `comm` (LowerCommunication.h). Where the job leaves slots open they are
/// chosen first, and the job says afterwards what they are and what they follow from: two; as many
/// more as save time, if `pipeline.costs` says what a transfer costs; on ranks on which that does
/// not fit into `pipeline.memory_limit` one less at a time, down to one. Before that, where
/// replicas share the model, fewer stages of a rank are whole at a time, down to one.
std::optional<plan::Plan> lowerWithSlots(Job &job, const Schedule &order,
                                         const std::vector<std::uint32_t> &family,
                                         Findings &findings);

/// The same choice without the programs, for whoever wants to know it alone.
void chooseSlots(Job &job, std::uint64_t samples);

/// What a step takes at the costs of the job, in their unit: with the slots that it states, and
/// with those that would be chosen. Of a long step, its first microbatches.
struct SlotsWorth {
  double stated = 0, best = 0;
  int slots = 0; // of the best
};
SlotsWorth worthOfSlots(const Schedule &order, const Job &job);

} // namespace vime
