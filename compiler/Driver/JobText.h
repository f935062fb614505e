// The text that a job trains on: there, long enough, and with which content.
#pragma once

#include <optional>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/FinishPlan.h"

namespace vime {

/// Reads the whole text once for its fingerprint; nothing, and a finding, if a plan cannot be made
/// for it.
std::optional<TextFacts> readTextFacts(const Job &job, Findings &findings);

} // namespace vime
