// Resume: which checkpoint a run goes on from, as its user wishes.
#pragma once

#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Choose.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct ResumeWish {
  enum class Kind : std::uint8_t {
    No,   // from the first step
    Yes,  // there must be a checkpoint
    IfAny // from the first step when there is none
  };
  Kind kind = Kind::No;
  std::string from;   // a directory of checkpoints, or one of them; empty: where the plan saves
  std::string chosen; // the one, once it is known
};

/// Nothing: from the first step. File, Unacceptable: as chooseCheckpoint (Choose.h), and Usage when
/// the plan says of no directory.
StatusOr<std::optional<Choice>> chooseResume(const plan::Plan &plan, const std::string &base,
                                             const ResumeWish &wish);

/// Opens what was chosen; nothing when nothing was. Unacceptable: it is of another run after all.
StatusOr<std::optional<Checkpoint>> openResume(const plan::Plan &plan, const ResumeWish &wish);

/// Whether a run that goes on begins this loop later: the only outermost one, with a trip for each
/// step of the plan.
bool isLoopOverSteps(const plan::Plan &plan, const plan::Program &program, const plan::Loop &loop);

} // namespace vime
