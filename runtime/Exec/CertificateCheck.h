// The certificate of a program, checked again before it runs (C2, this rank's part).
//
// If every rank dispatches in strictly increasing time, waits only for what it dispatched before,
// and agrees with its peers about the time of every transfer (runtime/Transport/Agreement.h), then
// the run finishes on every transport: the transport theorem of compiler/docs/execution-model.md.
// Costs one pass over the program.
#pragma once

#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// `Unacceptable`, naming the action. The plan has passed plan::checkRankPlan: indices are in
/// range.
Status checkCertificate(const plan::Plan &plan, std::uint32_t rank);

} // namespace vime
