// The files that a job trains on and with, a text and maybe a module: there, long enough, and with
// which content.
#pragma once

#include <optional>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/FinishPlan.h"

namespace vime {

/// Reads all of them once for their fingerprints; nothing, and a finding, if a plan cannot be made
/// for it.
std::optional<TextFacts> readTextFacts(const Job &job, Findings &findings);

} // namespace vime
