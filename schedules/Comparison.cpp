// Every order at equal work: built, timed and held against its bounds.
#include "schedules/Comparison.h"
#include "schedules/UnitTime.h"

#include <algorithm>
#include <tuple>

namespace vime {

namespace {

Periods operator/(Periods periods, double parts) {
  return {periods.barrier / parts, periods.postValidated / parts};
}

bool pairsIn(const Schedule &order) {
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      if (task.overlapsNext)
        return true;
  return false;
}

/// Pairs take parts of a unit, so tasks are counted in thousandths of one.
Periods periodsWithPairs(const Schedule &order, const UnitCosts &costs, double pair) {
  constexpr std::int64_t kFine = 1000;
  TaskCosts fine = taskCosts(costs, order.placement.size());
  for (StageCosts &stage : fine.stages)
    for (std::int64_t *cost :
         {&stage.forward, &stage.backwardInput, &stage.backwardWeight, &stage.backward})
      *cost *= kFine;
  fine.transfer *= kFine;
  fine.pair = pair;
  return periodsOf(order, fine) / kFine;
}

/// Idle part of the ranks' time, of which a pair takes its share.
double bubbleWithPairs(const Schedule &order, const UnitCosts &costs, double pair, double period) {
  double busy = 0;
  for (const std::vector<Task> &row : order.rows)
    for (std::size_t place = 0; place < row.size(); ++place) {
      const bool isPaired = row[place].overlapsNext || (place > 0 && row[place - 1].overlapsNext);
      busy += (isPaired ? pair : 1) * costs.of(row[place].kind);
    }
  return 1 - busy / period / static_cast<double>(order.rows.size());
}

ComparedFigures figuresOf(const Schedule &order, UnitCosts whole, std::optional<double> pair) {
  const int parts = partsOf(order);
  const UnitCosts costs = costsOfParts(whole, parts, order.slices);
  const bool hasPairs = pair && pairsIn(order);
  const UnitTimes times = simulate(order, costs);
  const Bounds bounds = boundsOf(boundedShapeOf(order, costs));
  const Periods periods =
      hasPairs ? periodsWithPairs(order, costs, *pair) : periodsOf(order, costs);
  const auto most = [](const auto &numbers) {
    return static_cast<double>(*std::max_element(numbers.begin(), numbers.end()));
  };
  const auto above = [](double period, const Bound &bound) {
    return period / static_cast<double>(bound.least) - 1.0;
  };
  return {
      .makespan = (hasPairs ? periods.barrier : static_cast<double>(times.makespan)) / parts,
      .span = most(times.span) / parts,
      .periods = periods / parts,
      .hasPairs = hasPairs,
      .growth = growthUnderJitter(order, costs),
      .bubble = hasPairs ? bubbleWithPairs(order, costs, *pair, periods.barrier) : times.bubble,
      .peak = most(times.peakLive) / parts,
      .copies = order.copies,
      .gap = {above(periods.barrier, bounds.makespan), above(periods.postValidated, bounds.span)},
      .bindsBarrier = bounds.makespan.label,
      .bindsPostValidated = bounds.span.label};
}

ComparedOrder compared(const Order &order, const ComparedShape &wanted) {
  const ScheduleShape shape = shapeOf(order, wanted);
  ComparedOrder result{&order, shape, check(order, shape), {}};
  if (result.problem)
    return result;
  result.figures = figuresOf(order.build(shape), wanted.costs, wanted.pair);
  result.exceedsMemory = wanted.memory && result.figures->peak > *wanted.memory;
  return result;
}

} // namespace

ScheduleShape shapeOf(const Order &order, const ComparedShape &wanted) {
  const bool hasChoice = order.chunks.least < order.chunks.most;
  ScheduleShape shape =
      shapeFor(order, wanted.ranks, wanted.microbatches, hasChoice ? wanted.chunks : std::nullopt);
  // Orders that are made for costs have one copy of every stage and whole microbatches.
  if (order.takes.costs)
    shape.costs = costsOfParts(wanted.costs, shape.chunks, 1);
  shape.overlap = order.takes.overlap && wanted.pair.has_value();
  if (order.takes.memory && wanted.memory)
    shape.memory = *wanted.memory * shape.chunks;
  return shape;
}

int partsOf(const Schedule &order) {
  const auto stages = static_cast<int>(order.placement.size());
  return stages / order.copies / static_cast<int>(order.rows.size()) * order.slices;
}

UnitCosts costsOfParts(UnitCosts whole, int parts, int slices) {
  whole.transfer *= parts / slices;
  return whole;
}

OrderUnits unitsOf(const Order &order) {
  ScheduleShape shape = shapeFor(order, /*ranks=*/4, /*microbatches=*/8);
  shape.overlap = order.takes.overlap;
  if (const auto problem = check(order, shape))
    shape = problem->nearest.front();
  const Schedule built = order.build(shape);
  OrderUnits units{.copies = built.copies, .slices = built.slices};
  for (const std::vector<Task> &row : built.rows)
    for (const Task &task : row)
      units.splits |= task.kind == TaskKind::BackwardInput;
  units.pairs = pairsIn(built);
  return units;
}

std::vector<ComparedOrder> compareOrders(const ComparedShape &shape) {
  std::vector<ComparedOrder> all;
  for (const Order &order : allOrders())
    if (order.trains)
      all.push_back(compared(order, shape));
  const auto rank = [](const ComparedOrder &entry) {
    const ComparedFigures none, &figures = entry.figures ? *entry.figures : none;
    return std::tuple(!entry.figures, entry.exceedsMemory, figures.periods.barrier,
                      figures.periods.postValidated, figures.peak * figures.copies);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const ComparedOrder &left, const ComparedOrder &right) {
                     return rank(left) < rank(right);
                   });
  return all;
}

} // namespace vime
