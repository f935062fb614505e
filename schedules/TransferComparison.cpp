// Every order with few and with many slots.
#include "schedules/TransferComparison.h"
#include "schedules/TransferTimes.h"
#include "schedules/UnitTime.h"

#include <algorithm>

namespace vime {

namespace {

ComparedTransfers compared(const Order &order, const ScheduleShape &shape, UnitCosts whole) {
  const Schedule built = order.build(shape);
  const int parts = partsOf(built);
  const UnitCosts costs = costsOfParts(whole, parts, built.slices);
  const auto inWhole = [&](std::int64_t time) { return static_cast<double>(time) / parts; };
  ComparedTransfers figures{.order = &order, .chunks = shape.chunks};
  figures.dataflow = inWhole(simulate(built, costs).makespan);
  figures.late = inWhole(timeOfLateReceives(built, costs).value_or(0));
  figures.channels = mostReceivingChannels(built);
  std::optional<double> best;
  for (int slots = 1; slots <= kComparedSlots; ++slots)
    if (const auto time = timeWithSlots(built, costs, slots)) {
      figures.withSlots[static_cast<std::size_t>(slots) - 1] = inWhole(*time);
      best = std::min(best.value_or(inWhole(*time)), inWhole(*time));
    }
  for (int slots = kComparedSlots; slots >= 1; --slots)
    if (const auto &time = figures.withSlots[static_cast<std::size_t>(slots) - 1];
        time && *time <= *best * 1.01)
      figures.enough = slots;
  return figures;
}

} // namespace

std::vector<ComparedTransfers> compareTransfers(const ComparedShape &shape) {
  std::vector<ComparedTransfers> all;
  for (const Order &order : allOrders())
    if (const ScheduleShape wanted = shapeOf(order, shape); order.trains && !check(order, wanted))
      all.push_back(compared(order, wanted, shape.costs));
  std::stable_sort(all.begin(), all.end(), [](const auto &left, const auto &right) {
    return left.withSlots[1].value_or(left.late) < right.withSlots[1].value_or(right.late);
  });
  return all;
}

} // namespace vime
