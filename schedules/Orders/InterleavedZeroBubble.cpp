// Interleaved zero bubble (ZB1P over several chunks): interleaved 1F1B with the backward cut in
// two. Input gradients hurry upstream; weight gradients lag behind by `rank` and fill the slots in
// which interleaved 1F1B drains.
// Source: Qi et al. 2023, over chunks as PyTorch has it; idle slots as PyTorch draws them.
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

// Idle slots where a forward would stand in the same slot as the one it needs, or before it. The
// ranks go through their rows in step.
class ForwardsInStep {
public:
  ForwardsInStep(Schedule &order, int microbatches)
      : order(order), microbatches(microbatches),
        end(order.placement.size() * static_cast<std::size_t>(microbatches), kNotYet) {}

  void drawIdleSlots() {
    const std::vector<std::vector<Task>> rows = std::move(order.rows);
    order.rows.assign(rows.size(), {});
    std::vector<std::size_t> next(rows.size(), 0);
    std::size_t left = 0;
    for (const std::vector<Task> &row : rows)
      left += row.size();
    for (int slot = 0; left > 0; ++slot)
      for (std::size_t rank = 0; rank < rows.size(); ++rank)
        if (next[rank] < rows[rank].size()) {
          const Task &task = rows[rank][next[rank]];
          const bool runs = canRun(task, slot);
          order.rows[rank].push_back(runs ? task : Task{TaskKind::Idle, -1, -1});
          next[rank] += runs;
          left -= runs;
        }
  }

private:
  static constexpr int kNotYet = 1 << 30;

  int &endOf(int stage, int microbatch) {
    return end[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) +
               static_cast<std::size_t>(microbatch)];
  }

  bool canRun(const Task &task, int slot) {
    if (task.kind != TaskKind::Forward)
      return true;
    if (task.stage > 0 && endOf(task.stage - 1, task.microbatch) > slot)
      return false;
    endOf(task.stage, task.microbatch) = slot + 1;
    return true;
  }

  Schedule &order;
  int microbatches;
  std::vector<int> end; // of the forward of a stage and microbatch, in slots
};

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  const std::vector<int> chunks = chunksInTurn(shape, sizeOfRound(shape));
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(rowOf(shape, rank, chunks, stagesOf(order.placement, rank)));
  ForwardsInStep(order, shape.microbatches).drawIdleSlots();
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
