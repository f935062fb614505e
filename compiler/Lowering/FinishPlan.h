// Last step before the verifiers: what the runtime reads beside programs and layouts, and where
// everything comes from.
#pragma once

#include "compiler/Frontend/Job.h"
#include "compiler/Lowering/RoundSettings.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// The files that the plan is made for: the second text only if the job evaluates, the module only
/// if the model is one.
struct TextFacts {
  std::uint64_t bytes = 0;
  plan::Hash128 hash{};
  std::uint64_t heldOutBytes = 0;
  plan::Hash128 heldOutHash{};
  plan::Hash128 moduleHash{};
  std::uint64_t samples = 0; // of an epoch
  RoundFacts round;          // instead of texts, where there are rounds
};

/// Bytes that a plan may use on one rank: the least that the job states; 0: no limit.
std::uint64_t memoryLimitOf(const Job &job);

/// Fills settings, limits, connect rounds and origins.
void finishPlan(plan::Plan &plan, const Job &job, const TextFacts &text,
                std::string compilerVersion);

} // namespace vime
