// The order a plan runs in a whole step, read back from its actions; drawn by the same notation as
// orders that never were a plan.
#include "compiler/View/PlanText.h"

#include <algorithm>
#include <optional>

#include "compiler/Analysis/OrderFacts.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "schedules/Notation.h"

namespace vime {
namespace {

using namespace plan;

/// Whether it runs in a whole step.
bool isOfWholeStep(const Plan &plan, const Stretch &stretch) {
  return !stretch.within || stretch.within->condition > plan.conditions.size() ||
         mayRun(plan, *stretch.within, plan.data.microbatches);
}

std::vector<Task> rowOf(const Plan &plan, const Program &program) {
  std::vector<Task> row;
  for (const Stretch &stretch : stretchesOf(program)) {
    if (!isOfWholeStep(plan, stretch))
      continue;
    for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
      for (std::uint32_t index = stretch.begin; index < stretch.end; ++index) {
        const Action &action = program.actions[index];
        if (const std::optional<TaskKind> kind = taskOf(static_cast<Opcode>(action.opcode)))
          row.push_back({*kind, static_cast<int>(program.stages[action.stage].stage),
                         static_cast<int>(stretch.microbatchOf(action, iteration))});
      }
  }
  return row;
}

} // namespace

Schedule orderOf(const Plan &plan) {
  Schedule order;
  order.slices = static_cast<int>(plan.data.slices);
  std::size_t stages = 0;
  for (const Model &model : plan.models) {
    stages = std::max(stages, model.stages.size());
    order.copies = std::max(order.copies, static_cast<int>(copiesOf(model.stages)));
  }
  order.placement.resize(stages);
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    const Program &program = *programOf(plan, rank);
    for (const LocalStage &local : program.stages)
      order.placement[local.stage] = static_cast<int>(rank);
    order.rows.push_back(rowOf(plan, program));
  }
  return order;
}

std::string planGrid(const Plan &plan) { return toTimeline(orderOf(plan)); }

} // namespace vime
