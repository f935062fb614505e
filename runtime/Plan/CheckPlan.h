// CheckPlan: whether every number of a plan is in range, so that the loop which runs it need not
// look again.
//
// Asked of bytes from anywhere: after it no index leads out of its table, no buffer out of its
// arena, and no routine reads or writes past the buffers it is given. Whether the plan is *right*
// (finishes, trains the model, keeps its memory apart) is for the verifiers; rules that only they
// know are not repeated here.
#pragma once

#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// Unacceptable and one sentence for the first thing out of range.
Status checkPlan(const Plan &plan);

/// The same for what `readRankPlan` gives a rank: the common part, its program and its layout.
Status checkRankPlan(const Plan &plan, std::uint32_t rank);

} // namespace vime::plan
