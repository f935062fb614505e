// LocalRun: all ranks of a plan as threads of this process, over the `local` or
// `rendezvous` transport.
//
//   Status status = runLocal(plan, planId(plan), {.base = "jobs"}, observer);
#pragma once

#include "runtime/Base/Status.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Exec/RunOptions.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Returns when every rank has stopped: Ok, the failure of the rank that failed first, or
/// Interrupted.
Status runLocal(const plan::Plan &plan, plan::Hash128 planId, const RunOptions &options,
                RunObserver &observer);

} // namespace vime
