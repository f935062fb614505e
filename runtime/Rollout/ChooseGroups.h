// ChooseGroups: which groups of an over-sampled round are trained on.
//
//   const double rewards[] = {1, 1,  0, 1,  0, 0,  1, 0};        // four groups of two
//   chooseGroups({.prompts = 2, .candidates = 4, .samples = 2, .dropsEqualRewards = true}, rewards)
//       // trained {1, 3}, dropped 2
//
// The first ones, in the order of their draws. With the filter of DAPO (2503.14476), groups whose
// rewards are all equal, from which nothing is learned, give way to later ones. Where too few are
// left the first of them fill up: a round always has its number of prompts, and a step its size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/Plan/Round.h"

namespace vime {

struct ChosenGroups {
  std::vector<std::uint32_t> trained;                // ascending
  std::uint32_t dropped = 0, filled = 0, unused = 0; // RoundReport.h
};

/// `rewards`: of all candidates' samples, by draw and sample.
ChosenGroups chooseGroups(const plan::RolloutSettings &rollout, std::span<const double> rewards);

} // namespace vime
