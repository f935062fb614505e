// Kernel: keys that repeat, one period later for each microbatch: the steady part of an order, from
// which the rest follows.
//
//   Kernel kernel = kernelOf(flow, timing); // the microbatch in the middle of a timing
//   Attempt attempt = justifier.improved(urgencyOf(flow, kernel), kernel.ends);
#pragma once

#include "schedules/Search/Justify.h"

namespace vime {

struct Kernel {
  Times keys;          // per pass, of microbatch 0
  std::int64_t period; // to the next microbatch
  Taste taste{};
  Ends ends = Ends::Anywhere;
};

/// Of a microbatch that meets nobody, each a rank's work behind the one before.
Kernel straightKernel(const Flow &flow);

Kernel kernelOf(const Flow &flow, const Timing &timing);

Urgency urgencyOf(const Flow &flow, const Kernel &kernel);

} // namespace vime
