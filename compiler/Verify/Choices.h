// Choices: the ways in which the decisions of a plan can fall together; each leaves a plan without
// cases, which all rules are judged for (D3).
//
//   for (const Choice &choice : choicesOf(plan))
//     judge(ActionTable(plan, choice))
//
// One choice stands for a whole run. That is enough for runs in which it changes from step to step:
// lanes are drained at both edges of every case, whether or not it runs, so what is ordered by
// waits across the edge of a step is the same in all of them; and nothing but weights, moments and
// gradients that are overwritten is read in a later step (S2), which no case writes. In plans that
// commit early lanes are drained only where a case runs; what lies between two such edges, over
// however many steps, lies between none in the choice in which no such case runs, and is the same.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::verify {

constexpr std::size_t kDecisions = static_cast<std::size_t>(plan::Decision::Rollout) + 1;
constexpr std::size_t kMaxChoices = 4096;

/// A loop that is judged with fewer trips than it runs (LongLoops.h).
struct ShortenedLoop {
  std::uint32_t loop = 0; // its global id
  std::uint32_t trips = 0;
  std::int64_t hidden = 0; // time of the trips that are left out
  bool operator==(const ShortenedLoop &) const = default;
};

struct Choice {
  std::array<std::uint32_t, kDecisions>
      values{}; // by decision; 0 for what the plan does not decide
  std::vector<ShortenedLoop> shortened;
  std::uint32_t hidden = 0;          // microbatches of a step that these loops leave out
  std::uint32_t hiddenEvaluated = 0; // of an evaluation
  std::uint32_t of(plan::Decision decision) const {
    return values[static_cast<std::size_t>(decision)];
  }
};

/// Whether the actions of the case run.
bool runs(const plan::Plan &plan, const plan::Case &one, const Choice &choice);

/// All of them, whole steps first; one if nothing is decided. Cut off behind `kMaxChoices`. What
/// ends a run or skips single actions is chosen only where a case asks for it; else it is 1, if it
/// can be. Numbers of microbatches that differ only in trips of a long loop are one choice.
std::vector<Choice> choicesOf(const plan::Plan &plan);

/// A whole step, with all that it can decide, unshortened.
Choice wholeStepOf(const plan::Plan &plan);

/// Of each loop of the table: how often it runs in this choice, or is judged to; of one that does
/// not run the trips of a whole step.
std::vector<std::uint32_t> tripsOf(const plan::Plan &plan, const plan::Program &program,
                                   const Choice &choice);

/// Actions of all ranks that the choice leaves, loops over microbatches unrolled; the most trips of
/// such a loop, and the most pieces between edges of loops and cases of a rank.
struct Unrolled {
  std::uint64_t entries = 0;
  std::uint32_t trips = 0, pieces = 0;
};
Unrolled unrolledBy(const plan::Plan &plan, const Choice &choice);

/// Loops and cases of all ranks, all of which every choice looks at.
std::uint64_t countEdges(const plan::Plan &plan);

/// `microbatches = 3, evaluate = 1`: what the plan decides; empty if it decides nothing.
std::string describe(const plan::Plan &plan, const Choice &choice);

} // namespace vime::verify
