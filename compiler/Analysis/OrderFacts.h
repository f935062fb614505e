// OrderFacts: what is known of a plan's order at the durations of the plan: how long its steps take
// with a barrier at the optimizer and without one, and what no order can undercut.
//
//   const OrderFacts facts = orderFactsOf(table, durations);
//   facts.bounds.makespan.least, facts.bounds.makespan.label // of a step with a barrier
//
// Only tasks and what passes between stages count here, so that the plan's own step is no shorter:
// it has an optimizer, collectives, and links that carry one message at a time.
#pragma once

#include "compiler/Analysis/Durations.h"
#include "compiler/Verify/ActionTable.h"
#include "schedules/Bounds.h"
#include "schedules/Period.h"

namespace vime {

struct OrderFacts {
  Periods periods; // of the order, nanoseconds
  /// By L1 to L4 for the same stages, microbatches and activations; L5 in `link`: the wire's time
  /// of all messages that the busiest link carries.
  Bounds bounds;
  bool splits = true; // the bounded orders may cut backwards in two
};

OrderFacts orderFactsOf(const verify::ActionTable &table, const Durations &durations);

/// What no order of the plan's stages, microbatches and activations can undercut, if steps follow
/// each other as the plan's do: the strongest of L1 to L5.
Bound bindingBound(const verify::ActionTable &table, const Bounds &bounds);

/// Nothing: it is no task of an order.
std::optional<TaskKind> taskOf(plan::Opcode opcode);

/// The tasks of a step as the leading replica dispatches them.
Schedule orderOf(const verify::ActionTable &table);

/// Of the plan's stages, as far as orders know them.
TaskCosts taskCostsOf(const verify::ActionTable &table, const Durations &durations);

} // namespace vime
