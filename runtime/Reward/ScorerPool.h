// ScorerPool: several scorers that share the requests of a call, each with a thread.
//
//   StatusOr<std::unique_ptr<Reward>> reward = makePool(settings, makeScorer);
//
// A request is asked of one scorer at a time. Where that has no score for it, it is asked again, of
// whoever is free, `retries` times. A scorer that is lost is not replaced; with fewer than
// `minWorkers` the call fails, and says how each was lost. Scores are put where their requests
// stand, so nothing depends on who gave them.
#pragma once

#include <functional>
#include <memory>

#include "runtime/Reward/CancelEvent.h"
#include "runtime/Reward/Reward.h"
#include "runtime/Reward/Scorer.h"

namespace vime {

/// Called once on each scorer's thread, which it does not outlive. `cancel` outlives it.
using MakeScorer = std::function<StatusOr<std::unique_ptr<Scorer>>(const CancelEvent &cancel)>;

/// When all scorers are made; the error of one that cannot be.
StatusOr<std::unique_ptr<Reward>> makePool(const plan::RewardSettings &settings, MakeScorer make);

} // namespace vime
