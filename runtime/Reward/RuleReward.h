// RuleReward: rewards that follow from the text alone: 1 or 0.
//
//   exact-answer   the final answer (FinalAnswer.h) is that of the prompt's answer, to the byte
//   numeric        its last number is that of the prompt's answer
//   regex          the pattern is in it
//   format         the pattern is all of it
#pragma once

#include <memory>

#include "runtime/Reward/Reward.h"

namespace vime {

/// Of these four kinds. InvalidInput: a pattern that cannot be read, or one for a rule that has
/// none.
StatusOr<std::unique_ptr<Reward>> makeRuleReward(const plan::RewardSettings &settings);

} // namespace vime
