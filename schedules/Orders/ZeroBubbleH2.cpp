// ZB-H2: ZB-H1 with twice the warm-up. Forwards fill the time until the first backward comes back,
// and the weight gradients of all of them are kept for the time in which 1F1B drains: with
// F = I = W a rank never idles between its first and its last task. The price is twice the memory.
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
    const int ahead = std::min(2 * (shape.ranks - 1 - rank), shape.microbatches);
    const int lag = std::min(2 * rank, shape.microbatches); // weight gradients owed at any time
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

const Order orders::zeroBubbleH2{
    .name = "zb-h2",
    .summary = "zb-h1 with twice the microbatches alive and no idle "
               "slot between first and last task",
    .placement = "linear",
    .chunks = {.least = 1, .most = 1, .usual = 1},
    .build = build,
    .needs = "1 chunk",
    .bubble = "(p-1)F if F = I = W and m >= 2p-1, all before a rank's first task",
    .peak = "min(2p-1, m) microbatches",
    .source = "Qi et al. 2023"};

} // namespace vime
