// ChainPlan: a plan made by hand for tests of the executor, for any number of ranks, without model
// or data.
//
// Every rank r of p holds one stage. In each step m microbatches go forward through the chain and
// come back, as GPipe has it, over rings of two slots; then all ranks gather one number each. What
// a task computes the test decides.
#pragma once

#include <cstdint>

#include "runtime/Plan/Plan.h"

namespace vime {

struct ChainShape {
  std::uint32_t ranks = 2;
  std::uint32_t microbatches = 4;
  std::uint32_t steps = 3;
  std::uint32_t bytesPerToken = 8; // of a boundary message
};

/// Tokens that a slot has room for; how many a microbatch has is in the step header, which the test
/// gives to RankState.
constexpr std::uint32_t kChainTokens = 4;
constexpr std::uint32_t kChainSlots = 2;

/// Operands of the tasks: forward {input, output}, backward {output gradient, input gradient};
/// absent at the ends of the chain. `square_norm` is {own, own}, `clip` {all, own}: before and
/// after the all-gather.
plan::Plan chainPlan(ChainShape shape);

/// Folds the microbatches of a rank of a chain plan: one loop for all forwards and one for all
/// backwards, inside the loop over steps.
void foldMicrobatches(plan::Plan &plan, std::uint32_t rank);

} // namespace vime
