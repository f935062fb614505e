// Forward-only: a pass that learns nothing, as evaluations and log-probabilities need it. With
// several stages on a rank as many microbatches as ranks go through one before the next takes them.
// Source: PyTorch's ScheduleForwardOnly, whose idle slots these are; several stages as in Narayanan
// et al. 2021.
#include "schedules/ForwardOnly.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order = forwardOnly(loopPlacement(shape), shape.ranks, shape.microbatches);
  for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
    order.rows[rank].insert(order.rows[rank].begin(), rank, {TaskKind::Idle, -1, -1});
  return order;
}

} // namespace

const Order orders::forwardOnly{.name = "forward-only",
                                .summary = "forwards alone, for passes that learn nothing",
                                .placement = "loop",
                                .chunks = {.least = 1, .most = kMaxChunks, .usual = 1},
                                .build = build,
                                .trains = false,
                                .needs = "any shape",
                                .bubble = "(p-1)F/v if v = 1 or p divides m",
                                .peak = "none: no backward needs them",
                                .source = "PyTorch's ScheduleForwardOnly"};

} // namespace vime
