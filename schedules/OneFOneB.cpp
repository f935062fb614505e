// 1F1B (PipeDream-Flush): a rank forwards one microbatch for itself and one for each rank behind
// it, then alternates, backward first. Keeps at most `ranks - rank` microbatches alive, where GPipe
// keeps all of them. Source: Narayanan et al. 2021; the row is the one that PyTorch's executor
// runs.
#include "schedules/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

Schedule oneFOneB(ScheduleShape shape) {
  Schedule order{linearPlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int ahead = std::min(shape.ranks - rank, shape.microbatches);
    RowBuilder row({rank}, static_cast<std::size_t>(2 * shape.microbatches));
    row.forward(ahead);
    for (int steady = ahead; steady < shape.microbatches; ++steady)
      row.backward().forward();
    row.backward(ahead);
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace vime
