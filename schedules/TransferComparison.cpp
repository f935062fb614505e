// Every order with few and with many slots, and as PyTorch would run it.
#include "schedules/TransferComparison.h"
#include "schedules/PyTorchTransfers.h"
#include "schedules/SlotsForCosts.h"
#include "schedules/UnitTime.h"

#include <algorithm>

namespace vime {

namespace {

int microbatchesOf(const Schedule &order) {
  int count = 0;
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      count = std::max(count, task.microbatch + 1);
  return count;
}

ComparedTransfers compared(const Order &order, const ScheduleShape &shape, UnitCosts whole) {
  const Schedule built = order.build(shape);
  const int parts = partsOf(built), microbatches = microbatchesOf(built);
  const UnitCosts costs = costsOfParts(whole, parts, built.slices);
  const auto inWhole = [&](std::optional<std::int64_t> time) {
    return time ? std::optional(static_cast<double>(*time) / parts) : std::nullopt;
  };
  ComparedTransfers figures{.order = &order, .chunks = shape.chunks};
  figures.dataflow = *inWhole(simulate(built, costs).makespan);
  for (int slots = 1; slots <= kComparedSlots; ++slots)
    figures.withSlots[static_cast<std::size_t>(slots) - 1] =
        inWhole(timeWithSlots(built, microbatches, costs, {{slots}}));
  figures.chosen = slotsForCosts(built, microbatches, costs);
  const ReceiveSlots chosen{{figures.chosen}};
  if (const auto clock = layClock(built, microbatches, chosen))
    figures.held = mostHeld(rowsOf(*clock, built, microbatches, chosen));
  if (const auto early = transfersAsPyTorch(built, microbatches)) {
    const TransferRows deferred = deferredReceives(*early);
    figures.early = {inWhole(rendezvous(*early, costs, Queues::PerPair)), mostHeld(*early)};
    figures.buffers = mostReceived(*early);
    figures.deferred = {inWhole(rendezvous(deferred, costs, Queues::PerPair)), mostHeld(deferred)};
  }
  return figures;
}

} // namespace

std::vector<ComparedTransfers> compareTransfers(const ComparedShape &shape) {
  std::vector<ComparedTransfers> all;
  for (const Order &order : allOrders())
    if (const ScheduleShape wanted = shapeOf(order, shape); order.trains && !check(order, wanted))
      all.push_back(compared(order, wanted, shape.costs));
  std::stable_sort(all.begin(), all.end(), [](const auto &left, const auto &right) {
    return left.withSlots[1].value_or(left.dataflow) < right.withSlots[1].value_or(right.dataflow);
  });
  return all;
}

} // namespace vime
