// StepMembers: the programs of a training pass, for all numbers of microbatches that a step can
// have.
//
//   membersOf(order, /*whole=*/40, {13, 25, 40}, /*fillsUp=*/true)
//   // 1f1b: one program with loops, for 13, 25 and 40
//
// A whole step and all numbers down to one that its loops do not cover share a program; each other
// number has one of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/Lowering/FoldClock.h"
#include "schedules/Schedule.h"

namespace vime {

/// Numbers of microbatches, ascending, and the clock of the largest, which all share.
struct StepMember {
  std::vector<std::uint32_t> microbatches;
  FoldedClock folded;
};

/// Of `family`, ascending, the last one that of a whole step unless a shorter order is asked for.
/// Where steps are filled up with empty microbatches (`fillsUp`), a number may stand for the next
/// one: few of those that need programs of their own are kept, and of those that share one so many
/// as can be judged in a short time. `folds`: whether there may be loops. Nothing if the order can
/// never finish.
std::optional<std::vector<StepMember>> membersOf(const Schedule &order, std::uint32_t whole,
                                                 const std::vector<std::uint32_t> &family,
                                                 bool fillsUp, const ReceiveSlots &slots = {},
                                                 bool folds = true);

} // namespace vime
