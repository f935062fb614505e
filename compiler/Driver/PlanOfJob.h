// planOfJob: the plan that `vimec JOB.yaml` would write, in memory.
//
//   StatusOr<plan::Plan> plan = planOfJob({"job.yaml", {"pipeline.schedule=zb-v"}}, findings,
//   sources);
#pragma once

#include <functional>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Frontend/Job.h"
#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Proved. Not ok: `findings` say what is wrong with the job, or the status says why it cannot be
/// read. A legal job is changed before it is compiled.
StatusOr<plan::Plan> planOfJob(const JobArguments &arguments, Findings &findings,
                               SourceCache &sources, const std::function<void(Job &)> &change = {});

} // namespace vime
