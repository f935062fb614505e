// RoundSettings: what a plan says of the rounds of a job.
#pragma once

#include "compiler/Frontend/Job.h"
#include "runtime/Base/FileHash.h"
#include "runtime/Plan/Round.h"

namespace vime {

/// The files of prompts that the plan is made for: the second one only if the job evaluates.
struct RoundFacts {
  FileFingerprint prompts, heldOut;
};

/// Of a job with rounds.
plan::RoundSettings roundSettings(const Job &job, const RoundFacts &facts);

} // namespace vime
