// ZB-V: a rank holds two stages, one on the way down and one on the way back up, so that the turn
// is on the last rank and the loss on the first. A microbatch comes back to where it started after
// one round, and input and weight gradients fill the slots of a backward one by one: with F = I = W
// a rank idles only until its first task, and keeps as many activations alive as under 1F1B.
// With other costs or a memory of its own it is searched from there, as v-auto is.
// Source: Qi et al. 2024, Pipeline Parallelism with Controllable Memory; idle slots as PyTorch
// draws them.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

// One rank's row for at least 2 * ranks - 1 microbatches.
class VeeRow {
public:
  VeeRow(std::vector<int> stages, std::size_t slots) : row(std::move(stages), slots) {}

  VeeRow &idle(int slots) { return row.idle(slots), *this; }
  VeeRow &forwardDown(int count = 1) { return row.at(0).forward(count), *this; }
  VeeRow &forwardUp() { return row.at(1).forward(), *this; }
  VeeRow &inputDown() { return row.at(0).backwardInput(), *this; }
  VeeRow &inputUp() { return row.at(1).backwardInput(), *this; }
  VeeRow &weightDown(int count = 1) { return row.at(0).backwardWeight(count), *this; }
  VeeRow &weightUp(int count = 1) { return row.at(1).backwardWeight(count), *this; }
  std::vector<Task> take() { return row.take(); }

private:
  RowBuilder row;
};

std::vector<Task> rowOf(int rank, int ranks, int microbatches, std::vector<int> stages) {
  const int behind = ranks - rank; // ranks from here to the turn, this one included
  int ahead = 2 * behind - 1 + rank;
  VeeRow row(std::move(stages), static_cast<std::size_t>(rank + 6 * microbatches));
  row.idle(rank).forwardDown(2 * behind - 1);
  for (int turn = 0; turn < rank; ++turn)
    row.forwardUp().forwardDown();
  for (int turn = 0; turn < behind; ++turn)
    row.forwardUp().inputUp().weightUp();
  for (int steady = ranks; steady < microbatches; ++steady) {
    if (ahead++ < microbatches)
      row.forwardDown();
    row.inputDown().weightDown().forwardUp().inputUp().weightUp();
  }
  for (int turn = 0; turn < rank; ++turn)
    row.inputDown().inputUp();
  for (int turn = 0; turn < behind; ++turn)
    row.inputDown().weightDown();
  return row.weightUp(rank).weightDown(rank).take();
}

Schedule byRule(ScheduleShape shape) {
  Schedule order{veePlacement(shape), {}};
  const int filled = std::max(2 * shape.ranks - 1, shape.microbatches); // what fills the pipeline
  for (int rank = 0; rank < shape.ranks; ++rank) {
    order.rows.push_back(rowOf(rank, shape.ranks, filled, stagesOf(order.placement, rank)));
    for (Task &task : order.rows.back())
      if (task.microbatch >= shape.microbatches)
        task = {TaskKind::Idle, -1, -1};
  }
  return order;
}

Schedule build(ScheduleShape shape) {
  if (shape.costs == UnitCosts{} && shape.memory == 0)
    return byRule(shape);
  return orders::vAuto.build(shape);
}

} // namespace

const Order orders::zeroBubbleV{
    .name = "zb-v",
    .summary = "two stages per rank, down the ranks and back: the bubble of one short forward",
    .placement = "vee",
    .chunks = {.least = 2, .most = 2, .usual = 2},
    .build = build,
    .refusal = [](ScheduleShape shape) { return orders::vAuto.refusal(shape); },
    .takes = {.memory = true, .costs = true},
    .needs = "2 chunks, a memory of 2 or more",
    .bubble = "(p-1)F/2 if F = I = W and m >= 2p-1",
    .peak = "min(p, m) microbatches, or the given memory",
    .source = "Qi et al. 2024"};

} // namespace vime
