// CompleteRound: from the rewards in the buffer `round` to advantages and denominators.
//
//   completeRound(plan.round, round);
//
// Groups are compared within the round, whitening and denominators count an optimizer step: a run
// of samples, each step's behind those of the step before.
//
// REINFORCE++ (2501.03262) puts the reward on the last token and discounts by 1, so each token of a
// response has it as its return; a KL term is the loss's. It is whitened over the tokens of the
// step; so is the variant with a baseline, whose rewards are compared with their group first.
#pragma once

#include <cstddef>

#include "runtime/Base/Status.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

/// The buffer has all samples of the round, with rewards. InvalidInput: rewards that are not
/// finite, or groups of one where groups are compared.
Status completeRound(const plan::RoundSettings &settings, std::byte *round);

} // namespace vime
