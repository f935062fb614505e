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

// Measured with GCC 12 on Debian 12: 6.5 to 8 MiB beside the arenas, for one rank and for four.
inline constexpr std::uint64_t kProcessAllowance = std::uint64_t{12} << 20;
inline constexpr std::uint64_t kRankAllowance = std::uint64_t{1} << 20;
/// Of a process that computes with LibTorch: its libraries.
inline constexpr std::uint64_t kLibTorchAllowance = std::uint64_t{512} << 20;
/// Of an action: in the file, in the plan, as an instruction.
inline constexpr std::uint64_t kActionAllowance = 512;
/// Of a step: what the summary keeps of it; of a round likewise.
inline constexpr std::uint64_t kStepAllowance = 256, kRoundAllowance = 256;
/// Of a response, on rank 0, which has rewards given: its place, and of each of its tokens the text
/// and, where they are dumped, a number for itself and two for its probabilities, as text that
/// grows.
inline constexpr std::uint64_t kSampleOfRoundAllowance = 512, kScoredAllowance = 4,
                               kDumpedAllowance = 128;
/// Of a byte of prompts: a token of it, and the text that rewards see.
inline constexpr std::uint64_t kPromptAllowance = 16;

/// Once for each process: the above, the texts, and LibTorch where a model needs it.
std::uint64_t processAllowance(const Plan &plan);

/// Of a sample of unequal length: where it lies, on the ranks that load. It has two bytes at least.
inline constexpr std::uint64_t kSampleAllowance = 12;
/// Of a sample of a step, on the same ranks: which it is, and where it goes.
inline constexpr std::uint64_t kPackedAllowance = 64;

/// For each rank in it: the above, the tables of its stages, the model that they start from.
std::uint64_t rankAllowance(const Plan &plan, std::uint32_t rank);

/// Both arenas.
std::uint64_t arenaBytes(const Plan &plan, std::uint32_t rank);

} // namespace vime::plan
