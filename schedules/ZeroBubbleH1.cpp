// ZB-H1: 1F1B with the backward cut in two. The input gradient goes upstream at once; the weight
// gradient, which nobody waits for, lags behind by `rank` microbatches and fills the slots in which
// 1F1B drains. Every rank keeps as many microbatches alive as there are ranks.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism.
#include "schedules/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

Schedule zeroBubbleH1(ScheduleShape shape) {
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

} // namespace vime
