// Checkpoint: the sizes of a model from the Hugging Face directory that its `checkpoint` names.
#pragma once

#include "compiler/Frontend/Draft.h"

namespace vime {

/// For every model that states a checkpoint: the values of its config.json, derived, where the job
/// states none; an error where it states another.
void readCheckpoints(Draft &draft);

} // namespace vime
