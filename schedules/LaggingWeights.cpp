// One stage per rank, weight gradients behind their input gradients.
#include "schedules/LaggingWeights.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

Schedule laggingWeights(ScheduleShape shape, int depth) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int ahead = std::min(depth * (shape.ranks - 1 - rank), shape.microbatches);
    const int lag = std::min(depth * rank, shape.microbatches); // weight gradients owed at any time
    RowBuilder row({rank}, static_cast<std::size_t>(3 * shape.microbatches));
    row.forward(ahead);
    for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
      if (ahead + microbatch < shape.microbatches)
        row.forward();
      row.backwardInput();
      if (microbatch >= lag)
        row.backwardWeight();
    }
    row.backwardWeight(lag);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace vime
