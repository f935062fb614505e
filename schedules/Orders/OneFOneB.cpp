// 1F1B (PipeDream-Flush): a rank forwards one microbatch for itself and one for each rank behind
// it, then alternates, backward first. Keeps at most `ranks - rank` microbatches alive, where GPipe
// keeps all of them. Source: Narayanan et al. 2021; the row is the one that PyTorch's executor
// runs.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int ahead = std::min(shape.ranks - rank, shape.microbatches);
    RowBuilder row({rank}, static_cast<std::size_t>(2 * shape.microbatches));
    row.forward(ahead);
    for (int steady = ahead; steady < shape.microbatches; ++steady)
      row.backward().forward();
    row.backward(ahead);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::oneFOneB{.name = "1f1b",
                             .summary =
                                 "one forward, one backward: as fast as gpipe with less memory",
                             .placement = "linear",
                             .chunks = {.least = 1, .most = 1, .usual = 1},
                             .build = build,
                             .needs = "1 chunk",
                             .bubble = "(p-1)(F+B)",
                             .peak = "min(p, m) microbatches",
                             .source = "Narayanan et al. 2021"};

} // namespace vime
