// Choose: which checkpoint a run goes on from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Checkpoint.h"

namespace vime {

struct Choice {
  Checkpoint checkpoint;
  std::vector<std::string> skipped; // newer ones, each with the reason
};

/// `where` is a directory of checkpoints, of which the newest is taken that is whole and of this
/// run; or one checkpoint. `steps`: of the run. File: there is none. Unacceptable: none can be
/// taken, with the reason of each.
StatusOr<Choice> chooseCheckpoint(const std::string &where, const Identity &identity,
                                  std::uint64_t steps);

/// Whether a run may go on from it, as far as its manifest says.
Status checkFits(const Checkpoint &checkpoint, const Identity &identity, std::uint64_t steps);

} // namespace vime
