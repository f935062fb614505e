// DualPipeV: DualPipe cut in half. A rank holds two stages, one on the way down and one on the way
// back up; in the steady part the forward of one runs as a pair with the backward of the other, so
// that either's transfers hide behind the other's computation. Backwards are whole while there is
// a forward to pair them with and cut in two where the pipeline fills and drains.
// Source: DeepSeek-AI 2025, DualPipe; Li et al. 2025 (cut in half). As PyTorch has it.
#include "schedules/DualPipeRow.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

namespace vime {

namespace {

std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.microbatches >= shape.stages())
    return std::nullopt;
  return Refusal{"microbatches", "cannot run " + std::to_string(shape.microbatches) +
                                     " microbatches on " + std::to_string(shape.stages()) +
                                     " stages: it needs at least one for each stage"};
}

Schedule build(ScheduleShape shape) {
  Schedule order{veePlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(
        dualPipeRow(rank, shape.ranks, shape.microbatches, stagesOf(order.placement, rank)));
  return order;
}

} // namespace

const Order orders::dualPipeV{
    .name = "dualpipe-v",
    .summary = "two stages per rank, forwards of one paired with backwards of the other",
    .placement = "vee",
    .chunks = {.least = 2, .most = 2, .usual = 2},
    .build = build,
    .refusal = refuses,
    .needs = "2 chunks, m >= 2p",
    .bubble = "(p-1)F/2 if F = I = W and the parts of a pair run one behind the other",
    .peak = "p + 1/2 microbatches",
    .source = "DeepSeek-AI 2025"};

} // namespace vime
