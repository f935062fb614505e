// Period: what a step costs when one follows the other, in unit time.
//
//   periodsOf(zeroBubbleH2, UnitCosts{})  // barrier 27, postValidated 24: its ranks idle only at
//   the ends
//
// With a barrier at the optimizer a step begins when every rank has ended the one before: its
// period is the makespan. Post-validated (Qi et al. 2023) a rank begins as soon as it has stepped
// its own weights, on what the ranks before it know of the gradients' norm; so its period is that
// of the cycle. The messages of post-validation bind nothing here: partial norms go the way of a
// step's first forwards, and the full verdict is known where its first backward comes from.
#pragma once

#include "schedules/Schedule.h"
#include "schedules/TaskCosts.h"

#include <cstdint>

namespace vime {

struct Periods {
  double barrier = 0;
  double postValidated = 0;
};

/// Of an order that finishes.
Periods periodsOf(const Schedule &order, UnitCosts costs);
Periods periodsOf(const Schedule &order, const TaskCosts &costs);

/// By which share the periods grow if every task of every step takes up to `spread` more or less
/// than it should, all alike likely: the mean over some steps. Same seed, same numbers.
Periods growthUnderJitter(const Schedule &order, UnitCosts costs, double spread = 0.1,
                          std::uint64_t seed = 1);

} // namespace vime
