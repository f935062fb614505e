// V-Min: two stages per rank, down the ranks and back, with as few activations alive as a full rate
// allows. A microbatch goes down and up without a pause and turns back at once, so it lives as
// short as it can: about a third of what 1F1B keeps.
// Source: Qi et al. 2024, Pipeline Parallelism with Controllable Memory, figure 5.
#include "schedules/Orders/Orders.h"
#include "schedules/Search/Squeeze.h"

namespace vime {

namespace {

VeeBlock blockOf(int ranks) {
  const int pause = ranks % 3 == 0 ? 2 : 0; // else backwards would meet forwards in one slot
  VeeBlock block;
  for (int rank = 0; rank < ranks; ++rank)
    block.push_back(
        {rank, 2 * ranks - 1 - rank, 2 * ranks + pause + rank, 4 * ranks + pause - 1 - rank});
  return block;
}

Schedule build(ScheduleShape shape) {
  return orderOf(squeezed(repeated(blockOf(shape.ranks), shape.microbatches)));
}

} // namespace

const Order orders::vMin{.name = "v-min",
                         .summary = "zb-v with a third of the activations, for a longer bubble",
                         .placement = "vee",
                         .chunks = {.least = 2, .most = 2, .usual = 2},
                         .build = build,
                         .needs = "2 chunks",
                         .bubble = "(4p-5)F/2, or (4p-7)F/2 if 3 divides p; F = I = W and m >= p",
                         .peak = "floor((p+4)/3) microbatches",
                         .source = "Qi et al. 2024"};

} // namespace vime
