// StepFamily: the numbers of microbatches that the steps of a job can have, and the order of each.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "schedules/Schedule.h"

namespace vime {

/// Ascending; the last one is that of a whole step. Others occur where the text of an epoch does
/// not fill its last step (`data.tail: short`) and the run comes that far.
std::vector<std::uint32_t> stepFamily(const Job &job, std::uint64_t textBytes);

/// The order without the microbatches from `microbatches` on. Legal if the order is: what is left
/// out depends on nothing that stays, and nothing that stays on it.
Schedule shortened(const Schedule &order, std::uint32_t microbatches);

/// Of an evaluation; 0 if the job has none.
std::uint32_t evaluationMicrobatches(const Job &job);

/// Of any pass: what buffers of every microbatch are made for.
std::uint32_t mostMicrobatches(const Job &job);

} // namespace vime
