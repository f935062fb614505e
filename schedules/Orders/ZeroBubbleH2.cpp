// ZB-H2: ZB-H1 with twice the warm-up. Forwards fill the time until the first backward comes back,
// and the weight gradients of all of them are kept for the time in which 1F1B drains: with
// F = I = W a rank never idles between its first and its last task. The price is twice the memory.
// Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism.
#include "schedules/LaggingWeights.h"
#include "schedules/Orders/Orders.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) { return laggingWeights(shape, 2); }

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
