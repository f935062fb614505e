// V-Half: two stages per rank, down the ranks and back, with half of the activations of 1F1B alive.
// A microbatch goes down in twice the time in which it comes up again, and likewise backwards.
// Source: Qi et al. 2024, Pipeline Parallelism with Controllable Memory, figure 5.
#include "schedules/Orders/Orders.h"
#include "schedules/Search/Squeeze.h"

namespace vime {

namespace {

VeeBlock blockOf(int ranks) {
  const int pause = ranks % 2 == 0 ? 3 : 0; // else backwards would meet forwards in one slot
  VeeBlock block;
  for (int rank = 0; rank < ranks; ++rank)
    block.push_back({2 * rank, 3 * ranks - 2 - rank, 3 * ranks + pause + 2 * rank - 1,
                     6 * ranks + pause - 2 - rank});
  return block;
}

Schedule build(ScheduleShape shape) {
  return orderOf(squeezed(repeated(blockOf(shape.ranks), shape.microbatches)));
}

} // namespace

const Order orders::vHalf{.name = "v-half",
                          .summary = "zb-v with half of the activations, for half of 1f1b's bubble",
                          .placement = "vee",
                          .chunks = {.least = 2, .most = 2, .usual = 2},
                          .build = build,
                          .needs = "2 chunks",
                          .bubble = "(6 ceil(p/2) - 7)F/2 if F = I = W, m >= p+2 and p > 2",
                          .peak = "floor(p/2)+1 microbatches",
                          .source = "Qi et al. 2024"};

} // namespace vime
