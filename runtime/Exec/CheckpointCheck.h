// CheckpointCheck: whether the models' checkpoints hold the tensors of all stages, before any rank
// starts.
#pragma once

#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// File: one cannot be read. Unacceptable: it is not the model's, or damaged.
Status checkCheckpoints(const plan::Plan &plan, const std::string &base);

} // namespace vime
