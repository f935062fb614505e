#include "runtime/Policy/StepAdvantages.h"

#include "runtime/Policy/TokenAdvantage.h"

namespace vime {
namespace {

/// The number of a sequence goes to its last token with mask 1.
void putOnLast(const Sequences &sequences, std::span<double> tokens) {
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence) {
    bool isLast = true;
    for (std::size_t token = sequences.begins[sequence + 1]; token > sequences.begins[sequence];
         --token) {
      const bool counts = sequences.mask[token - 1] != 0;
      if (!counts || !isLast)
        tokens[token - 1] = 0;
      isLast = isLast && !counts;
    }
  }
}

} // namespace

Status StepAdvantages::lessen(const MicrobatchAdvantages &microbatch) {
  const auto &[sequences, old, reference, advantages] = microbatch;
  if (Status status = checkSequences(sequences); !status.ok())
    return status;
  if (settings.discounts)
    putOnLast(sequences, advantages);
  if (Status status = subtractKl(sequences, settings.estimator, settings.coefficient, old,
                                 reference, advantages);
      !status.ok())
    return status;
  if (settings.discounts)
    if (Status status = discountReturns(sequences, /*discount=*/1, advantages, advantages);
        !status.ok())
      return status;
  whitening.addNumbers(sequences.mask, advantages);
  return Status();
}

} // namespace vime
