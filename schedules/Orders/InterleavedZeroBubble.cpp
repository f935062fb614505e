// Interleaved zero bubble (ZB1P over several chunks): interleaved 1F1B with the backward cut in
// two. Input gradients hurry upstream; weight gradients lag behind by `rank` and fill the slots in
// which interleaved 1F1B drains.
// Source: Qi et al. 2023, over chunks as PyTorch has it; idle slots as PyTorch draws them.
#include "schedules/ForwardsInStep.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Rounds.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

std::vector<Task> rowOf(ScheduleShape shape, int rank, const std::vector<int> &chunks,
                        std::vector<int> stages) {
  const int total = static_cast<int>(chunks.size()); // forwards of one rank
  const int behind = shape.ranks - 1 - rank;
  const int ahead = std::min((shape.chunks - 1) * sizeOfRound(shape) + behind, total);
  const int lag = std::min(rank, total); // weight gradients owed at any time
  RowBuilder row(std::move(stages), static_cast<std::size_t>(rank + behind + 3 * total));
  const auto backwards = [&](int turn) -> RowBuilder & {
    return row.at(shape.chunks - 1 - chunks[turn]);
  };
  row.idle(rank);
  for (int warmUp = 0; warmUp < ahead; ++warmUp)
    row.at(chunks[warmUp]).forward();
  row.idle(behind);
  for (int turn = 0; turn < total; ++turn) {
    if (ahead + turn < total)
      row.at(chunks[ahead + turn]).forward();
    backwards(turn).backwardInput();
    if (turn >= lag)
      backwards(turn - lag).backwardWeight();
  }
  for (int turn = total - lag; turn < total; ++turn)
    backwards(turn).backwardWeight();
  return row.take();
}

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  const std::vector<int> chunks = chunksInTurn(shape, sizeOfRound(shape));
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(rowOf(shape, rank, chunks, stagesOf(order.placement, rank)));
  drawForwardsInStep(order, shape.microbatches);
  return order;
}

} // namespace

const Order orders::interleavedZeroBubble{
    .name = "interleaved-zb",
    .summary = "interleaved with weight gradients in the slots where it drains",
    .placement = "loop",
    .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
    .build = build,
    .refusal = refuseUnevenRounds,
    .needs = "microbatches a multiple of max(1, microbatches div ranks)",
    .bubble = "(p-1)(F+I-W)/v if p divides m",
    .peak = "(p + (v-1)n)/v microbatches, n in a round",
    .source = "Qi et al. 2023; chunks as PyTorch's ScheduleInterleavedZeroBubble"};

} // namespace vime
