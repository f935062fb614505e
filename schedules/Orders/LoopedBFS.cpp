// Looped breadth-first: all microbatches through a rank's first stage, then through its next, and
// back the same way, the last microbatch first. The bubble is as short as that of interleaved 1F1B;
// all microbatches stay alive, but each stage's parameters are needed only twice in a step.
// Source: Lamy-Poirier 2022, Breadth-First Pipeline Parallelism; sequence of the backwards and idle
// slots as PyTorch has them.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

namespace vime {

namespace {

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const std::vector<int> stages = stagesOf(order.placement, rank);
    std::vector<Task> row(static_cast<std::size_t>(rank), {TaskKind::Idle, -1, -1});
    for (const int stage : stages)
      for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch)
        row.push_back({TaskKind::Forward, stage, microbatch});
    const int turn = 2 * (shape.ranks - 1 - rank); // slots from this rank to the last and back
    row.insert(row.end(), static_cast<std::size_t>(turn), {TaskKind::Idle, -1, -1});
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
      for (int microbatch = shape.microbatches; microbatch-- > 0;)
        row.push_back({TaskKind::Backward, *stage, microbatch});
    order.rows.push_back(std::move(row));
  }
  return order;
}

} // namespace

const Order orders::loopedBfs{
    .name = "looped-bfs",
    .summary = "gpipe over several stages per rank, backwards from the last microbatch",
    .placement = "loop",
    .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
    .build = build,
    .ascending = false,
    .needs = "any shape",
    .bubble = "(p-1)(F+B)/v if m >= p",
    .peak = "m microbatches",
    .source = "Lamy-Poirier 2022"};

} // namespace vime
