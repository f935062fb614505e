// Interpreter: runs a small plan the slow way, as a yardstick for the judges. It shares nothing
// with them but the plan.
//
//   const Outcome right = interpret(plan, /*seed=*/0);
//   interpret(mutant, seed) == right   // for many seeds: the mutation is harmless
//
// Lanes run side by side: among all actions that may start and all that may finish a random one is
// chosen, so that a missing wait shows sooner or later. Memory is the arenas' bytes; every task
// writes a hash of all that it reads, so that any wrong, stale or torn byte changes what is
// reported in the end. Sends are buffered here; that everything also finishes when transfers meet
// and each rank does one thing at a time is run separately.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

struct Outcome {
  std::string trouble;                // empty, or how it failed: stuck, or two actions at one place
  std::vector<std::uint64_t> reports; // hashes of what report and export read, then of all weights
  bool operator==(const Outcome &) const = default;
};

Outcome interpret(const plan::Plan &plan, std::uint32_t seed);

/// Whether all ranks finish when each runs its actions one after the other and transfers meet.
bool finishesInLockstep(const plan::Plan &plan);

} // namespace vime
