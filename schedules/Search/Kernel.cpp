// Kernel: keys that repeat, one period later for each microbatch.
#include "schedules/Search/Kernel.h"

#include <algorithm>

namespace vime {

Kernel straightKernel(const Flow &flow) {
  return {.keys = startsWhenAlone(flow), .period = workPerMicrobatch(flow)};
}

Kernel kernelOf(const Flow &flow, const Timing &timing) {
  const int last = flow.microbatches - 1, middle = flow.microbatches / 2;
  std::int64_t period = workPerMicrobatch(flow);
  if (last > 0)
    period =
        std::max(period, (timing.start[flow.at(0, last)] - timing.start[flow.at(0, 0)]) / last);
  Kernel kernel{.keys = {}, .period = period};
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    kernel.keys.push_back(timing.start[flow.at(pass, middle)] - period * middle);
  return kernel;
}

Urgency urgencyOf(const Flow &flow, const Kernel &kernel) {
  Urgency urgency{.keys = Times(flow.size()), .taste = kernel.taste};
  for (std::size_t pass = 0; pass < flow.passes.size(); ++pass)
    for (int microbatch = 0; microbatch < flow.microbatches; ++microbatch)
      urgency.keys[flow.at(pass, microbatch)] = kernel.keys[pass] + kernel.period * microbatch;
  return urgency;
}

} // namespace vime
