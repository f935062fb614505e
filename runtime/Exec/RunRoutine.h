// RunRoutine: the boundary at which exceptions end.
//
// Routines report failures as statuses; what they call (kernels, a user's stage, file and standard
// library) may throw. An exception is a failure of this rank at this action.
#pragma once

#include "runtime/Exec/Instruction.h"

namespace vime {

/// What the routine says, or `RankFailed` with the exception's words; then `threw` is set.
Status runRoutine(RankState &state, const Instruction &instruction, bool &threw);

/// Whether a status that a routine returned without throwing is this rank's own failure: those of
/// the transport tell of a peer, or that the run is over.
constexpr bool isOwnFailure(StatusCode code) {
  return code != StatusCode::RankFailed && code != StatusCode::Hang &&
         code != StatusCode::Interrupted;
}

} // namespace vime
