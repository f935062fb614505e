// GPipe: every rank runs all forwards, then all backwards, both in ascending microbatch order.
// Simple, and keeps all microbatches alive. Source: Huang et al. 2019; idle slots as PyTorch draws.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int behind = shape.ranks - 1 - rank;
    // A microbatch comes back after one slot per forward hop and two per backward hop.
    const int turn = 3 * behind;
    RowBuilder row({rank}, static_cast<std::size_t>(rank + turn + 2 * shape.microbatches));
    row.idle(rank).forward(shape.microbatches).idle(turn).backward(shape.microbatches);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::gpipe{.name = "gpipe",
                          .summary = "all forwards, then all backwards",
                          .placement = "linear",
                          .chunks = {.least = 1, .most = 1, .usual = 1},
                          .build = build,
                          .needs = "1 chunk",
                          .bubble = "(p-1)(F+B)",
                          .peak = "m microbatches",
                          .source = "Huang et al. 2019"};

} // namespace vime
