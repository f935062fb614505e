// PackedText: the texts of a job whose samples are packed. How many microbatches a step has follows
// from how long its samples are.
#pragma once

#include "compiler/Frontend/Draft.h"

namespace vime {

/// Packs every step of the run, and the evaluation. The draft gets the numbers of microbatches that
/// it lacks; those that it states must suffice.
void packTextsOf(Draft &draft);

} // namespace vime
