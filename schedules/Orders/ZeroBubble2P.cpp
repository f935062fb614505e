// ZB-2p: one stage per rank, backwards in two parts, searched: with twice the activations of 1F1B
// the ranks need not wait for each other once they run, so that steps can follow without a bubble.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism, section 3.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Search/Search.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  return searched({.shape = shape,
                   .placement = linearPlacement(shape),
                   .memory = shape.memory > 0 ? shape.memory : 2 * shape.ranks,
                   .starts = {&orders::zeroBubbleH2, &orders::zeroBubbleH1}});
}

} // namespace

const Order orders::zeroBubble2P{
    .name = "zb-2p",
    .summary = "zb-1p with twice the memory: no rank idles between its first task and its last",
    .placement = "linear",
    .chunks = {.least = 1, .most = 1, .usual = 1},
    .build = build,
    .takes = {.memory = true, .costs = true},
    .needs = "1 chunk",
    .bubble = "(p-1)F if F = I = W, all of it before the first task",
    .peak = "min(2p, m) microbatches, or the given memory",
    .source = "Qi et al. 2023"};

} // namespace vime
