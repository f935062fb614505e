// Loops: the tree that a program's loop table makes, and the program cut at the edges of loops and
// cases.
//
//   if (auto misfit = findLoopMisfit(program)) … misfit->loop->id, misfit->problem
//   for (const Stretch &stretch : stretchesOf(program))
//     for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
//       stretch.microbatchOf(action, iteration) … in every whole step
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// Steps, and in them microbatches.
constexpr std::size_t kMaxLoopDepth = 2;

/// Of a program: each loop is compared with each case. The most numbers of microbatches that a plan
/// decides among (Decisions.h), several times over.
constexpr std::size_t kMostLoops = 4096, kMostCases = 4096;

/// A loop that has no place in the tree, and why.
struct LoopMisfit {
  const Loop *loop;
  const char *problem; // "overlaps another one"
};
std::optional<LoopMisfit> findLoopMisfit(const Program &program);

/// A case that has no place among the loops and the other cases, and why.
struct CaseMisfit {
  std::size_t index;   // in the table
  const char *problem; // "cuts a loop"
};
/// The loops must have no misfit.
std::optional<CaseMisfit> findCaseMisfit(const Program &program);

/// Trips of a loop in a step of so many microbatches, where a whole one has `whole`; nothing where
/// the loop is not made for so many.
std::optional<std::uint32_t> tripsOf(const Loop &loop, std::uint32_t whole,
                                     std::uint32_t microbatches);

/// Actions [begin, end) between two edges of loops or cases. They run `trips` times in a row, which
/// is more than once in a loop over microbatches only; and that in every iteration of `steps`.
struct Stretch {
  std::uint32_t begin = 0, end = 0;
  std::int64_t start = 0; // of their clock, in the first iteration of `steps`
  std::uint32_t trips = 1;
  std::int64_t period = 0;     // between two of the trips
  std::uint32_t first = 0;     // trips of the inner loop in front, by which microbatches advance
  const Loop *steps = nullptr; // the loop over steps around them
  const Loop *loop = nullptr;  // the innermost one around them
  const Case *within =
      nullptr; // the case that they lie in; between two that differ lanes are drained

  std::uint32_t microbatchOf(const Action &action, std::uint32_t iteration) const {
    return action.microbatch + std::uint32_t{action.step} * (first + iteration);
  }
};

/// All actions in their order; stretches outside of loops also where they are empty. The tables
/// must have no misfit and fit on the clock. Of a whole step, or with other trips for each loop of
/// the table.
std::vector<Stretch> stretchesOf(const Program &program);
std::vector<Stretch> stretchesOf(const Program &program, std::span<const std::uint32_t> trips);

} // namespace vime::plan
