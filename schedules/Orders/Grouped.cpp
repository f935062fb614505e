// Grouped interleaving: interleaved 1F1B whose groups may be as small as half the ranks. A group
// goes through all of a rank's stages before the next one enters, so the smaller it is the fewer
// activations wait for their second stage. The input gradient goes upstream before the weight
// gradient is begun, which keeps what a group of half the ranks makes wait short.
// Source: Wan et al. 2025, PipeOffload: Improving Scalability of Pipeline Parallelism.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/Rounds.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

int leastGroup(ScheduleShape shape) { return (shape.ranks + 1) / 2; }

int groupOf(ScheduleShape shape) { return shape.group == 0 ? leastGroup(shape) : shape.group; }

std::optional<Refusal> refuses(ScheduleShape shape) {
  const int group = groupOf(shape);
  if (leastGroup(shape) <= group && group <= shape.ranks)
    return std::nullopt;
  return Refusal{"group", "cannot run groups of " + std::to_string(group) + " on " +
                              std::to_string(shape.ranks) + " ranks: a group has " +
                              std::to_string(leastGroup(shape)) + " to " +
                              std::to_string(shape.ranks) + " microbatches"};
}

// All groups are whole here; microbatches that nobody has are taken out again.
std::vector<Task> rowOf(ScheduleShape shape, int rank, const std::vector<int> &chunks,
                        std::vector<int> stages) {
  const int total = static_cast<int>(chunks.size()); // forwards of one rank
  const int ahead = std::min((shape.chunks - 1) * groupOf(shape) + shape.ranks - rank, total);
  RowBuilder row(std::move(stages), static_cast<std::size_t>(3 * total));
  for (int warmUp = 0; warmUp < ahead; ++warmUp)
    row.at(chunks[warmUp]).forward();
  for (int turn = 0; turn < total; ++turn) {
    row.at(shape.chunks - 1 - chunks[turn]).backwardInput().backwardWeight();
    if (ahead + turn < total)
      row.at(chunks[ahead + turn]).forward();
  }
  return row.take();
}

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  const int group = groupOf(shape);
  ScheduleShape whole = shape;
  whole.microbatches = (shape.microbatches + group - 1) / group * group;
  const std::vector<int> chunks = chunksInTurn(whole, group);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    order.rows.push_back(rowOf(shape, rank, chunks, stagesOf(order.placement, rank)));
    std::erase_if(order.rows.back(),
                  [&](const Task &task) { return task.microbatch >= shape.microbatches; });
  }
  return order;
}

} // namespace

const Order orders::grouped{
    .name = "grouped",
    .summary = "interleaved in groups down to half the ranks: less memory, a longer bubble",
    .placement = "loop",
    .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
    .build = build,
    .refusal = refuses,
    .takes = {.group = true},
    .needs = "a group of (p+1)/2 to p microbatches",
    .bubble = "(p-1)(F+I)/v if g = p, ((v+3)p/2 - 2)F/v if g = p/2, F = I = W; g divides m",
    .peak = "(p + (v-1)g)/v microbatches, g in a group",
    .source = "Wan et al. 2025"};

} // namespace vime
