// GroupAdvantage: advantages from the rewards of a group alone: how much better an answer is than
// the other answers to the same prompt.
//
//   const std::uint32_t groups[] = {7, 7, 7, 7};
//   const double rewards[] = {1, 0, 0, 1};
//   double advantages[4];
//   groupAdvantages(GroupBaseline::Mean, groups, rewards, advantages);   // 0.5 -0.5 -0.5 0.5
//
// Rewards are those of rollouts, in any order; an execution that fanned out into several samples is
// one. Sums are exact, so advantages do not depend on the order in which answers came.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

enum class GroupBaseline : std::uint8_t {
  Mean,             // r - mean: Dr. GRPO (2503.20783), REINFORCE++ with baseline (2501.03262)
  MeanAndDeviation, // (r - mean) / (s + 1e-6), s of n - 1: GRPO (2402.03300)
  LeaveOneOut,      // r - mean of the others: RLOO (2402.14740)
};

/// `groups`: of each reward, any numbers. A group whose rewards are all equal has advantages of
/// exactly 0. A group of one, which nothing can be compared with, is an error, and so is a reward
/// that is not finite.
Status groupAdvantages(GroupBaseline baseline, std::span<const std::uint32_t> groups,
                       std::span<const double> rewards, std::span<double> advantages);

/// Groups whose rewards are all equal, ascending: nothing is learned from them.
std::vector<std::uint32_t> groupsWithoutVariance(std::span<const std::uint32_t> groups,
                                                 std::span<const double> rewards);

} // namespace vime
