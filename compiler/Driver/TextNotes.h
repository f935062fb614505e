// TextNotes: what becomes of a text that is cut into lines or paragraphs, or packed.
#pragma once

#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"

namespace vime {

/// How many samples there are, what is in none of them, how many microbatches steps have. Nothing
/// on a text that is cut into windows, each microbatch having as many as another.
std::vector<std::string> notesOnText(const Job &job);

} // namespace vime
