// StepFamily: the numbers of microbatches that the steps of a job can have, and the order of each.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "schedules/Schedule.h"

namespace vime {

/// Ascending; the last one is that of a whole step. Others occur where samples are packed by
/// tokens, and where the `samples` of an epoch do not fill its last step (`data.tail: short`) and
/// the run comes that far. Of more than a plan can name it has some: a step of packed samples is
/// filled up to the next one with empty microbatches.
std::vector<std::uint32_t> stepFamily(const Job &job, std::uint64_t samples);

/// At most so many of them, evenly, the last one included.
std::vector<std::uint32_t> someOf(const std::vector<std::uint32_t> &numbers, std::size_t most);

/// Whether a pass can have microbatches without a token.
bool fillsUp(const Job &job);

/// The order without the microbatches from `microbatches` on. Legal if the order is: what is left
/// out depends on nothing that stays, and nothing that stays on it.
Schedule shortened(const Schedule &order, std::uint32_t microbatches);

} // namespace vime
