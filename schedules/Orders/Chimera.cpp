// Chimera: two copies of the model, one up the ranks and one down. Of each unit of as many
// microbatches as ranks, half go each way; in the slots that one half leaves free, forward and
// backward being equally long, the other fits without a collision. Units follow one another.
// Source: Li and Hoefler 2021, Chimera: Efficiently Training Large-Scale Neural Networks with
// Bidirectional Pipelines; more microbatches than ranks by direct concatenation.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

#include <algorithm>

namespace vime {

namespace {

std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.ranks % 2 != 0)
    return Refusal{"ranks", "needs an even number of ranks, not " + std::to_string(shape.ranks)};
  if (shape.microbatches % 2 != 0)
    return Refusal{"microbatches",
                   "needs an even number of microbatches, half of which go each way, not " +
                       std::to_string(shape.microbatches)};
  return std::nullopt;
}

struct Slot {
  int time;
  Task task;
};

// The microbatches of one copy, as one pipeline that starts another every two slots and a unit
// every two slots per rank.
void addWay(std::vector<Slot> &slots, ScheduleShape shape, int depth, int stage) {
  for (int microbatch = 0; microbatch < shape.microbatches / 2; ++microbatch) {
    const int unit = microbatch / (shape.ranks / 2), within = microbatch % (shape.ranks / 2);
    const int start = 2 * shape.ranks * unit + 2 * within;
    slots.push_back({start + depth, {TaskKind::Forward, stage, microbatch}});
    slots.push_back({start + 2 * shape.ranks - 1 - depth, {TaskKind::Backward, stage, microbatch}});
  }
}

std::vector<Task> inOrder(std::vector<Slot> slots) {
  std::sort(slots.begin(), slots.end(),
            [](const Slot &one, const Slot &other) { return one.time < other.time; });
  std::vector<Task> row;
  for (const Slot &slot : slots)
    row.push_back(slot.task);
  return row;
}

Schedule build(ScheduleShape shape) {
  Schedule order{bothWaysPlacement(shape), {}, /*copies=*/2};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int fromEnd = shape.ranks - 1 - rank;
    std::vector<Slot> slots;
    addWay(slots, shape, rank, rank);
    addWay(slots, shape, fromEnd, shape.ranks + fromEnd);
    order.rows.push_back(inOrder(std::move(slots)));
  }
  dealToCopies(order);
  return order;
}

} // namespace

const Order orders::chimera{
    .name = "chimera",
    .summary = "two copies of the model, up and down the ranks: half the bubble of 1f1b",
    .placement = "both ways",
    .chunks = {.least = 1, .most = 1, .usual = 1},
    .build = build,
    .refusal = refuses,
    .needs = "1 chunk, p even, m even",
    .bubble = "(p-2)(F + (B-F)m/p) if p divides m and F <= B",
    .peak = "min(p, m) microbatches",
    .source = "Li and Hoefler 2021"};

} // namespace vime
