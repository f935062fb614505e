// Decisions: what may vary in a run of a plan, asked by those who compile, judge and run it.
//
//   valuesOf(plan, Decision::Microbatches)   // {3, 8}: a step has 3 microbatches or 8
//   holds({Decision::Evaluate, Comparison::Equal, 1}, decided(header, Decision::Evaluate))
#pragma once

#include <cstdint>
#include <span>

#include "runtime/Plan/Plan.h"
#include "runtime/Plan/StepHeader.h"

namespace vime::plan {

/// More than any family has; all of them are judged.
inline constexpr std::size_t kMostValues = 1024, kMostConditions = 254;

/// The values that a decision may have, ascending; none if the plan does not make it.
std::span<const std::uint32_t> valuesOf(const Plan &plan, Decision decision);

bool holds(const Condition &condition, std::uint32_t value);

/// Whether it lies in the scalars, not in the header.
constexpr bool isOfScalars(Decision decision) {
  return decision == Decision::Bad || decision == Decision::Verdict;
}

/// What the header says. Of every decision that is not of the scalars.
std::uint32_t decided(const StepHeader &header, Decision decision);

/// Whether the optimizer runs before it is known that nothing has to be clipped: what it did is
/// settled by the next step, or at the end of its own.
bool isPostValidated(const Plan &plan);

/// Whether a step in which the case does not run is as if it were not there: in a plan that commits
/// early, so that nobody waits there for others. Then there are steps without any such case.
bool drainsOnlyIfRun(const Plan &plan, const Case &one);

/// Whether the case can run in a step of so many microbatches.
bool mayRun(const Plan &plan, const Case &one, std::uint32_t microbatches);

/// The smallest number of microbatches that a step may be decided to have and that holds so many;
/// the step is filled up with empty ones. 0 if there is none.
std::uint32_t filledUp(const Plan &plan, std::uint32_t microbatches);

/// Of any pass: slots of the buffers that hold something of each microbatch.
std::uint32_t mostMicrobatchesOf(const Plan &plan);

} // namespace vime::plan
