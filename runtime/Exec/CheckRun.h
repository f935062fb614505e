// CheckRun: whether this machine could run a plan, without running it.
#pragma once

#include "runtime/Base/Status.h"
#include "runtime/Exec/RunOptions.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// What `runLocal` would refuse before its first action: certificates, channels that do not agree,
/// memory, where the export is to go, kernels, text.
Status checkRun(const plan::Plan &plan, const RunOptions &options);

} // namespace vime
