// Comparison: what every order is worth for the same work, in the same units.
//
//   for (const ComparedOrder &compared : compareOrders({.ranks = 8, .microbatches = 32,
//                                                       .costs = {10, 12, 8}}))
//     if (compared.figures)
//       print(compared.order->name, compared.figures->periods.barrier);
//
// The costs are those of a rank's whole share of the model for one whole microbatch, however many
// stages and slices an order cuts them into; times are in their unit. Activations are counted in
// what a rank's whole share keeps of one microbatch.
#pragma once

#include "schedules/Bounds.h"
#include "schedules/Period.h"
#include "schedules/Registry.h"

#include <optional>
#include <string_view>
#include <vector>

namespace vime {

/// What an order's tasks are, seen in a small one.
struct OrderUnits {
  bool splits = false; // backwards in two
  bool pairs = false;  // forwards and backwards that may overlap
  int copies = 1;      // of the weights
  int slices = 1;      // of a microbatch
};
OrderUnits unitsOf(const Order &order);

struct ComparedShape {
  int ranks;
  int microbatches;
  UnitCosts costs{};
  std::optional<int> chunks{}; // of the orders that take several numbers of them; else their usual
  /// Most activations on a rank, in those of its whole share: orders that take a memory are made
  /// for this one, the others keep to it or not.
  std::optional<int> memory{};
  /// What an overlapped pair takes of the time of its tasks (TaskCosts); none: one task of it runs
  /// behind the other.
  std::optional<double> pair{};
};

struct ComparedFigures {
  double makespan = 0;   // of one step alone
  double span = 0;       // of the longest rank, from its first start to its last end
  Periods periods;       // with pairs together, if they are
  bool hasPairs = false; // … and there are some: then no bound holds
  Periods growth;        // of the periods, where tasks take up to 10 % more or less
  double bubble = 0;     // idle part of the period with a barrier, 0 to 1
  double peak = 0;       // activations on the fullest rank
  int copies = 1;        // of the weights
  Periods gap;           // above the bounds of the periods: 0.02 is 2 %
  std::string_view bindsBarrier, bindsPostValidated; // L1 to L4
};

struct ComparedOrder {
  const Order *order;
  ScheduleShape shape;                 // that it was asked for
  std::optional<OrderProblem> problem; // why it cannot be built
  std::optional<ComparedFigures> figures;
  bool exceedsMemory = false; // then it stands behind those that do not
};

/// The order for the shape: its usual chunks where it has no choice, and what it has a use for.
ScheduleShape shapeOf(const Order &order, const ComparedShape &wanted);

/// Into how many tasks of one kind a rank's share of a microbatch is cut.
int partsOf(const Schedule &order);

/// Costs of an order's tasks in a unit so much smaller that a task costs what the whole share was
/// said to. A message stays as large when the model is cut finer, and shrinks with the slices.
UnitCosts costsOfParts(UnitCosts whole, int parts, int slices);

/// All orders that train: by their periods, with a barrier first; behind them those that keep more
/// than the memory, and those that cannot be built.
std::vector<ComparedOrder> compareOrders(const ComparedShape &shape);

} // namespace vime
