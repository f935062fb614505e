// ZB-H1: 1F1B with the backward cut in two. The input gradient goes upstream at once; the weight
// gradient, which nobody waits for, lags behind by `rank` microbatches and fills the slots in which
// 1F1B drains. Every rank keeps as many microbatches alive as there are ranks.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int ahead = std::min(shape.ranks - 1 - rank, shape.microbatches);
    const int lag = std::min(rank, shape.microbatches); // weight gradients owed at any time
    RowBuilder row({rank}, static_cast<std::size_t>(3 * shape.microbatches));
    row.forward(ahead);
    for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
      if (ahead + microbatch < shape.microbatches)
        row.forward();
      row.backwardInput();
      if (microbatch >= lag)
        row.backwardWeight();
    }
    row.backwardWeight(lag);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::zeroBubbleH1{.name = "zb-h1",
                                 .summary =
                                     "1f1b with weight gradients in the slots where it drains",
                                 .placement = "linear",
                                 .chunks = {.least = 1, .most = 1, .usual = 1},
                                 .build = build,
                                 .needs = "1 chunk",
                                 .bubble = "(p-1)(F+I-W) if m >= p",
                                 .peak = "min(p, m) microbatches",
                                 .source = "Qi et al. 2023"};

} // namespace vime
