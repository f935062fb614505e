// StepAdvantages: advantages of a step whose rewards are lessened by the KL to a reference model.
//
//   StepAdvantages step({.discounts = true, .estimator = KlEstimator::K1, .coefficient = 0.01});
//   for (…) step.lessen(microbatch);      // of every one of the step, in place, as what follows
//   step.takeMean();
//   for (…) step.addSquares(microbatch);
//   for (…) step.whiten(microbatch);
//
// With `discounts` a sequence's number is the reward of its last token, less the KL of every token,
// and an advantage what is still to come (REINFORCE++, 2501.03262); without, it is what every token
// has, less its own KL (its variant with a baseline). Behind that all tokens of the step are
// whitened. Sums are exact: the packing changes no bit.
#pragma once

#include <span>

#include "runtime/Base/Status.h"
#include "runtime/Policy/KlEstimate.h"
#include "runtime/Policy/Sequences.h"
#include "runtime/Policy/Whitening.h"

namespace vime {

struct StepAdvantageSettings {
  bool discounts = false;
  KlEstimator estimator = KlEstimator::K1;
  double coefficient = 0;
};

/// Of the tokens of a microbatch. `advantages`: at each token with mask 1 its sequence's number.
struct MicrobatchAdvantages {
  Sequences sequences;
  std::span<const double> old, reference; // log-probabilities
  std::span<double> advantages;
};

class StepAdvantages {
public:
  explicit StepAdvantages(StepAdvantageSettings settings) : settings(settings) {}

  Status lessen(const MicrobatchAdvantages &microbatch);
  void takeMean() { whitening.takeMean(); }
  void addSquares(const MicrobatchAdvantages &microbatch) {
    whitening.addSquares(microbatch.sequences.mask, microbatch.advantages);
  }
  void whiten(const MicrobatchAdvantages &microbatch) const {
    whitening.apply(microbatch.sequences.mask, microbatch.advantages);
  }

private:
  const StepAdvantageSettings settings;
  Whitening whitening;
};

} // namespace vime
