// The order a plan runs, read back from its actions; drawn by the same notation as orders that
// never were a plan.
#include "compiler/View/PlanText.h"

#include <algorithm>
#include <optional>

#include "runtime/Plan/Describe.h"
#include "schedules/Notation.h"

namespace vime {
namespace {

using namespace plan;

std::optional<TaskKind> taskOf(std::uint16_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
  case Opcode::Forward:
    return TaskKind::Forward;
  case Opcode::Backward:
    return TaskKind::Backward;
  case Opcode::BackwardInput:
    return TaskKind::BackwardInput;
  case Opcode::BackwardWeight:
    return TaskKind::BackwardWeight;
  default:
    return std::nullopt;
  }
}

/// How often a loop runs within one step: a loop over microbatches moves on by `step`, the loop
/// over steps does not.
std::uint32_t tripsInStep(const Program &program, const Loop &loop) {
  const bool advances =
      std::any_of(program.actions.begin() + loop.begin, program.actions.begin() + loop.end,
                  [](const Action &action) { return action.step != 0; });
  return advances ? loop.trips : 1;
}

std::vector<Task> rowOf(const Program &program) {
  std::vector<Task> row;
  const auto run = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t iteration) {
    for (std::uint32_t index = begin; index < end; ++index) {
      const Action &action = program.actions[index];
      if (const std::optional<TaskKind> kind = taskOf(action.opcode))
        row.push_back({*kind, static_cast<int>(program.stages[action.stage].stage),
                       static_cast<int>(action.microbatch + iteration * action.step)});
    }
  };
  std::uint32_t next = 0;
  for (const Loop &loop : program.loops) {
    run(next, loop.begin, 0);
    for (std::uint32_t iteration = 0, trips = tripsInStep(program, loop); iteration < trips;
         ++iteration)
      run(loop.begin, loop.end, iteration);
    next = loop.end;
  }
  run(next, static_cast<std::uint32_t>(program.actions.size()), 0);
  return row;
}

} // namespace

Schedule orderOf(const Plan &plan) {
  Schedule order;
  std::size_t stages = 0;
  for (const Model &model : plan.models)
    stages = std::max(stages, model.stages.size());
  order.placement.resize(stages);
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
    const Program &program = *programOf(plan, rank);
    for (const LocalStage &local : program.stages)
      order.placement[local.stage] = static_cast<int>(rank);
    order.rows.push_back(rowOf(program));
  }
  return order;
}

std::string planGrid(const Plan &plan) { return toTimeline(orderOf(plan)); }

std::string planCsv(const Plan &plan) { return toCsv(orderOf(plan)); }

} // namespace vime
