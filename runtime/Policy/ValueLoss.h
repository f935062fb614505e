// ValueLoss: the critic's loss at each token of a microbatch, and its derivative by the value.
//
//   Status made = valueLoss({.clip = 0.2},
//                           {.sequences = sequences, .values = now, .old = before,
//                            .returns = returns, .denominators = denominators}, gradient, sums);
//
// The larger of (v - R)² and (v' - R)², v' being v kept within clip of the value before the round's
// steps; divided by the sequence's denominator. Same bits for every packing, as in PolicyLoss.h.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/Base/Status.h"
#include "runtime/Policy/ExactSum.h"
#include "runtime/Policy/Sequences.h"

namespace vime {

struct ValueLossSettings {
  double clip = 0.2;
};

struct ValueLossInputs {
  Sequences sequences;
  std::span<const double> values, old, returns; // of tokens
  std::span<const double> denominators;         // of each sequence
};

struct ValueLossSums {
  ExactSum loss;
  std::uint64_t tokens = 0, clipped = 0;
};

/// Adds to `sums`. `gradient` is 0 where the mask is. A loss that is not finite is an error.
Status valueLoss(const ValueLossSettings &settings, const ValueLossInputs &inputs,
                 std::span<double> gradient, ValueLossSums &sums);

} // namespace vime
