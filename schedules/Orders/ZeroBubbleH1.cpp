// ZB-H1: 1F1B with the backward cut in two. The input gradient goes upstream at once; the weight
// gradient, which nobody waits for, lags behind by `rank` microbatches and fills the slots in which
// 1F1B drains. Every rank keeps as many microbatches alive as there are ranks.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism.
#include "schedules/LaggingWeights.h"
#include "schedules/Orders/Orders.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) { return laggingWeights(shape, 1); }

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
