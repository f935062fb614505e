// readJobMachine: the machine that a job names: a profile, or a file from the job's folder.
#pragma once

#include <optional>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Job.h"
#include "compiler/Machine/Machine.h"

namespace vime {

/// Nothing: the job names none, or, with findings, one that cannot be read.
std::optional<Machine> readJobMachine(const Job &job, Findings &findings, SourceCache &sources);

} // namespace vime
