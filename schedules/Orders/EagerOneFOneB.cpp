// Eager 1F1B: 1F1B with twice the warm-up, so that a microbatch is sent a whole slot before the
// next rank needs it and slow transfers hide behind computation. With `overlap` each backward runs
// as a pair with the forward that 1F1B would have begun after it.
// Source: Zhuang et al. 2022, On Optimizing the Communication of Model Parallelism.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int ahead = std::min(2 * (shape.ranks - rank) - 1, shape.microbatches);
    RowBuilder row({rank}, static_cast<std::size_t>(2 * shape.microbatches));
    row.forward(ahead);
    for (int steady = ahead; steady < shape.microbatches; ++steady)
      if (shape.overlap)
        row.forward().backward().paired();
      else
        row.backward().forward();
    row.backward(ahead);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::eagerOneFOneB{.name = "eager-1f1b",
                                  .summary =
                                      "1f1b with twice the warm-up: transfers have a slot of time",
                                  .placement = "linear",
                                  .chunks = {.least = 1, .most = 1, .usual = 1},
                                  .build = build,
                                  .takes = {.overlap = true},
                                  .needs = "1 chunk",
                                  .bubble = "(p-1)(F+B)",
                                  .peak = "min(2p-1, m) microbatches; with overlap min(2p, m)",
                                  .source = "Zhuang et al. 2022"};

} // namespace vime
