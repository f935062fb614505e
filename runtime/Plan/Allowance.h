// Allowance: what a process may have resident beside the arenas of its ranks.
//
//   processAllowance(plan) + Σ over its ranks (arenas + rankAllowance(plan, rank))
//
// Arenas are exact; everything else is declared here: code and libraries, threads, the plan as it
// is read and as it is run, what Gloo keeps, the summary, mapped files as far as they are read.
// Shown by `vimec show --memory`; a run says how much of it was used, tests/EndToEnd/resident.py
// measures.
#pragma once

#include <cstdint>

#include "runtime/Plan/Plan.h"

namespace vime::plan {

inline constexpr std::uint64_t kProcessAllowance = std::uint64_t{24} << 20;
inline constexpr std::uint64_t kRankAllowance = std::uint64_t{2} << 20;
/// Of an action: in the file, in the plan, as an instruction.
inline constexpr std::uint64_t kActionAllowance = 512;
/// Of a step: what the summary keeps of it.
inline constexpr std::uint64_t kStepAllowance = 256;

/// Once for each process: the above, and the texts.
std::uint64_t processAllowance(const Plan &plan);

/// For each rank in it: the above, the tables of its stages, the model that they start from.
std::uint64_t rankAllowance(const Plan &plan, std::uint32_t rank);

/// Both arenas.
std::uint64_t arenaBytes(const Plan &plan, std::uint32_t rank);

} // namespace vime::plan
