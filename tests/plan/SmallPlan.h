// SmallPlan: a whole plan, made by hand, that keeps every rule: 2 ranks, 1F1B, 2 microbatches of 8
// tokens, null stages.
//
//   plan::Plan plan = smallPlan();                      // 3 steps
//   plan::Plan plan = smallPlan({.exportTo = "model"}); // and an export behind them
//   plan.programs[1].actions[indexOf(plan, 1, "backward, stage 1, microbatch 1")].waits = {};
//
// Times are written down as a table that a person can follow (SmallPlan.cpp); waits are counted
// from the names of what they wait for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/Plan/Plan.h"

namespace vime {

struct SmallPlanOptions {
  std::uint64_t steps = 3;
  std::string exportTo; // empty: no epilogue
};

plan::Plan smallPlan(const SmallPlanOptions &options = {});

/// The same with rank 0's two forwards and their sends as a loop over microbatches inside the loop
/// over steps; rank 1 stays as it is:
///   forward 0, send 0, forward 1, send 1   at 5, 6, 7, 9   becomes   (forward i, send i) × 2   at
///   5 + 3i, 6 + 3i
plan::Plan foldedPlan(const SmallPlanOptions &options = {});
/// Index of that loop in rank 0's table.
constexpr std::size_t kFoldedLoop = 1;

/// The first action of a rank with this description (runtime/Plan/Describe.h); aborts if there is
/// none.
std::uint32_t indexOf(const plan::Plan &plan, std::uint32_t rank, std::string_view description);

} // namespace vime
