// V-auto: two stages per rank, down the ranks and back, under any cap on the activations alive:
// searched between V-Min, V-Half and ZB-V for the given costs.
// Source: Qi et al. 2024, Pipeline Parallelism with Controllable Memory, section 5.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Search/Search.h"

namespace vime {

namespace {

std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.memory != 1)
    return std::nullopt;
  return Refusal{"memory",
                 "cannot run with 1 activation: a microbatch has two on a rank before its "
                 "first backward"};
}

Schedule build(ScheduleShape shape) {
  return searched({.shape = shape,
                   .placement = veePlacement(shape),
                   .memory = shape.memory > 0 ? shape.memory : 2 * shape.ranks,
                   .starts = {&orders::vMin, &orders::vHalf, &orders::zeroBubbleV}});
}

} // namespace

const Order orders::vAuto{.name = "v-auto",
                          .summary = "zb-v searched for given costs and memory",
                          .placement = "vee",
                          .chunks = {.least = 2, .most = 2, .usual = 2},
                          .build = build,
                          .refusal = refuses,
                          .takes = {.memory = true, .costs = true},
                          .needs = "2 chunks, a memory of 2 or more",
                          .bubble = "about 3F/2 less for each activation more",
                          .peak = "the given memory, else min(p, m) microbatches",
                          .source = "Qi et al. 2024"};

} // namespace vime
