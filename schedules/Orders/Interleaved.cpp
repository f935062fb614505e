// Interleaved 1F1B: a rank holds several stages, `ranks` apart, and takes one group of microbatches
// through each of them in turn, so the pipeline fills and drains in 1/chunks of the time.
// Source: Narayanan et al. 2021; groups of one size and idle slots as PyTorch draws them, stated
// groups and the longer warm-up that makes pairs independent as Megatron-LM has them.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Rounds.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

// A group shorter than the ranks leaves them waiting for its own next chunk.
std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.group == 0)
    return refuseUnevenRounds(shape);
  const std::string ranks = std::to_string(shape.ranks) + " ranks";
  if (shape.microbatches < shape.ranks)
    return Refusal{"microbatches", "cannot group " + std::to_string(shape.microbatches) +
                                       " microbatches on " + ranks +
                                       ": a group has at least as many as there are ranks"};
  if (shape.group < shape.ranks)
    return Refusal{"group", "cannot run groups of " + std::to_string(shape.group) + " on " + ranks +
                                ": a group has at least as many microbatches as there are ranks"};
  const int left = shape.microbatches % shape.group;
  if (0 < left && left < shape.ranks)
    return Refusal{"group", "cannot run " + std::to_string(shape.microbatches) +
                                " microbatches in groups of " + std::to_string(shape.group) +
                                " on " + ranks + ": the last group would be " +
                                std::to_string(left) + ", fewer than the ranks"};
  return std::nullopt;
}

// Idle slots between warm-up and steady part: the first backward comes back `turn` slots after the
// last stage has had its turn. They belong to the warm-up; a rank that has none (the last one, with
// one chunk) starts steady at once.
int slotsToWait(ScheduleShape shape, int rank, int turn, int ahead) {
  return ahead == 0 ? 0 : std::max(0, shape.stages() + turn - (ahead + rank));
}

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  const bool isDrawn = shape.group == 0 && !shape.overlap; // PyTorch has idle slots, Megatron none
  const int group = shape.group == 0 ? sizeOfRound(shape) : shape.group;
  const std::vector<int> chunks = chunksInTurn(shape, group);
  const int total = static_cast<int>(chunks.size()); // forwards of one rank, and backwards
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int turn = 2 * (shape.ranks - 1 - rank); // slots from this rank to the last and back
    const int ahead = std::min((shape.chunks - 1) * group + turn + shape.overlap, total);
    const int wait = isDrawn ? slotsToWait(shape, rank, turn, ahead) : 0;
    RowBuilder row(stagesOf(order.placement, rank),
                   static_cast<std::size_t>(rank + wait + 2 * total + ahead));
    const auto forward = [&](int turn) { row.at(chunks[turn]).forward(); };
    const auto backward = [&](int turn) { row.at(shape.chunks - 1 - chunks[turn]).backward(); };
    row.idle(isDrawn ? rank : 0);
    for (int warmUp = 0; warmUp < ahead; ++warmUp)
      forward(warmUp);
    row.idle(wait);
    for (int steady = ahead; steady < total; ++steady) {
      forward(steady);
      backward(steady - ahead);
      if (shape.overlap)
        row.paired();
    }
    for (int coolDown = total - ahead; coolDown < total; ++coolDown) {
      row.idle(isDrawn ? 1 : 0); // where the steady part had its forward
      backward(coolDown);
    }
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::interleaved{
    .name = "interleaved",
    .summary = "1f1b over several stages per rank: a shorter bubble for more transfers",
    .placement = "loop",
    .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
    .build = build,
    .refusal = refuses,
    .takes = {.group = true, .overlap = true},
    .needs = "microbatches a multiple of max(1, microbatches div ranks), or a group of at least "
             "the ranks that leaves none or as many",
    .bubble = "(p-1)(F+B)/v if p, or the group, divides m",
    .peak = "(2(p-1) + (v-1)n + 1)/v microbatches, n in a group; with overlap 1/v more",
    .source = "Narayanan et al. 2021"};

} // namespace vime
