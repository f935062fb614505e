// RoundNotes: what a round of a job comes to.
#pragma once

#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"

namespace vime {

/// What is generated and how often it is trained on, and what may surprise. Nothing on a job
/// without rounds.
std::vector<std::string> notesOnRounds(const Job &job);

} // namespace vime
