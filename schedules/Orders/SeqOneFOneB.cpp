// Seq1F1B: 1F1B over slices of sequences. A slice attends to those before it, so forwards go
// through a microbatch from its first slice to its last and backwards from the last to the first;
// the pipeline fills and drains in 1/slices of the time.
// Source: Sun et al. 2024, Seq1F1B: Efficient Sequence-Level Pipeline Parallelism.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

#include <algorithm>

namespace vime {

namespace {

// Slices are numbered through; those of a microbatch come back in the opposite order.
int backwardAt(int place, int slices) {
  return place - place % slices + slices - 1 - place % slices;
}

std::vector<Task> rowOf(int rank, ScheduleShape shape) {
  const int total = shape.microbatches * shape.slices;
  // The last slice of a microbatch is the first that can come back.
  const int ahead = std::min(shape.ranks - 2 - rank + shape.slices, total);
  std::vector<Task> row;
  const auto forward = [&](int place) { row.push_back({TaskKind::Forward, rank, place}); };
  const auto backward = [&](int place) {
    row.push_back({TaskKind::Backward, rank, backwardAt(place, shape.slices)});
  };
  for (int place = 0; place < ahead; ++place)
    forward(place);
  for (int place = ahead; place < total; ++place) {
    forward(place);
    backward(place - ahead);
  }
  for (int place = total - ahead; place < total; ++place)
    backward(place);
  return row;
}

Schedule build(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}, /*copies=*/1, shape.slices};
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(rowOf(rank, shape));
  return order;
}

} // namespace

const Order orders::seqOneFOneB{.name = "seq1f1b",
                                .summary = "1f1b over slices of sequences: a shorter bubble for "
                                           "more, smaller tasks",
                                .placement = "linear",
                                .chunks = {.least = 1, .most = 1, .usual = 1},
                                .build = build,
                                .takes = {.slices = true},
                                .ascending = false,
                                .needs = "1 chunk; slices of a causal model",
                                .bubble = "(p-1)(F+B)/q for q slices",
                                .peak = "min((p+q-1)/q, m) microbatches",
                                .source = "Sun et al. 2024"};

} // namespace vime
