// Which layers each stage of a job's model has.
#pragma once

#include <vector>

#include "compiler/Frontend/Job.h"

namespace vime {

/// As the job lays them out, or else as even as possible; those of one copy of the model after the
/// other. The layout has been judged.
std::vector<StageRange> splitStages(const Job &job, std::uint32_t stages, std::uint32_t copies);

} // namespace vime
