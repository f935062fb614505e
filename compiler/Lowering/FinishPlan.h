// Last step before the verifiers: what the runtime reads beside programs and layouts, and where
// everything comes from.
#pragma once

#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// The text that the plan is made for.
struct TextFacts {
  std::uint64_t bytes = 0;
  plan::Hash128 hash{};
};

/// Fills settings, limits, connect rounds and origins.
void finishPlan(plan::Plan &plan, const Job &job, const TextFacts &text,
                std::string compilerVersion);

} // namespace vime
