// ZB-1p: one stage per rank, backwards in two parts, searched: no more activations than 1F1B keeps,
// and the shortest time that is found for the given costs.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism, section 3.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Search/Search.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  return searched({.shape = shape,
                   .placement = linearPlacement(shape),
                   .memory = shape.memory > 0 ? shape.memory : shape.ranks,
                   .starts = {&orders::zeroBubbleH1}});
}

} // namespace

const Order orders::zeroBubble1P{.name = "zb-1p",
                                 .summary = "zb-h1 searched for given costs and memory",
                                 .placement = "linear",
                                 .chunks = {.least = 1, .most = 1, .usual = 1},
                                 .build = build,
                                 .takes = {.memory = true, .costs = true},
                                 .needs = "1 chunk",
                                 .bubble = "(p-1)F if F = I = W and m >= p",
                                 .peak = "min(p, m) microbatches, or the given memory",
                                 .source = "Qi et al. 2023"};

} // namespace vime
