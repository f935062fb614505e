#include "compiler/Driver/PlanCosts.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Analysis/Measured.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

using verify::ActionTable;

std::string PlanCosts::show(std::int64_t nanoseconds) const {
  std::string text = fmt::format("{:.3f}", static_cast<double>(nanoseconds) / perUnit);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text;
}

std::optional<CostBasis> readCostBasis(const CostChoice &choice, const OutputOptions &output,
                                       int &code) {
  CostBasis basis{.costs = choice.costs, .machine = {}};
  if (choice.machine.empty())
    return basis;
  basis.machine = findMachine(choice.machine, output, code);
  return basis.machine ? std::optional(std::move(basis)) : std::nullopt;
}

namespace {

/// What an order of tasks does not know: the ranks of a node slow each other down.
void noteSharedCores(const plan::Plan &plan, PlanCosts &costs) {
  const Durations &durations = costs.durations;
  const std::uint32_t onNode = durations.ranksPerNode == 0
                                   ? plan.mesh.ranks()
                                   : std::min(durations.ranksPerNode, plan.mesh.ranks());
  if (durations.coresPerNode != 0 && durations.coresPerNode < onNode)
    costs.notes.push_back(fmt::format("{} ranks share {} of a node, and a step is simulated so; "
                                      "periods of an order and bounds take each rank to have a "
                                      "core of its own",
                                      onNode, counted(durations.coresPerNode, "core")));
}

/// Where the plan was compiled for some time of its own.
std::vector<std::string> notesOfUnits(const plan::Plan &plan, const CostBasis &basis) {
  if (!basis.costs.empty() || plan.predictions.costs.empty())
    return {};
  return {fmt::format("the plan was compiled for costs {}; `--machine …` counts in its time",
                      plan.predictions.costs)};
}

} // namespace

StatusOr<PlanCosts> costsOf(const plan::Plan &plan, const CostBasis &basis) {
  if (basis.machine) {
    StatusOr<MachineCosts> costs = costsOn(*basis.machine, plan);
    if (!costs.ok())
      return costs.status();
    PlanCosts found{.durations = std::move(costs->durations),
                    .origin = fmt::format("on machine {}", basis.machine->name),
                    .unit = "ms",
                    .rows = std::move(costs->rows),
                    .engine = costs->engine,
                    .figures = std::move(costs->figures),
                    .notes = std::move(costs->notes)};
    noteSharedCores(plan, found);
    return found;
  }
  if (basis.costs.empty() && plan.models[0].config.family == ModelFamily::Sleep)
    return PlanCosts{.durations = declaredDurations(plan),
                     .origin = "as long as the job says that stages sleep; nothing else takes time",
                     .unit = "ms"};
  const UnitCosts units = readCosts(basis.costs).value_or(UnitCosts{});
  return PlanCosts{.durations = unitDurations(plan, units),
                   .origin = fmt::format(
                       "of each stage F {}, I {}, W {}, a transfer {}; nothing else takes time",
                       units.forward, units.backwardInput, units.backwardWeight, units.transfer),
                   .unit = "units",
                   .perUnit = static_cast<double>(kUnit),
                   .rows = {},
                   .engine = {},
                   .figures = {},
                   .notes = notesOfUnits(plan, basis)};
}

namespace {

Status noWholeStep(const std::string &folder) {
  return {StatusCode::InvalidInput,
          "no step of `" + folder +
              "` was traced from its begin to its end on all ranks\nhelp: trace steps that "
              "the run has, of whole batches: `--trace-steps 1:3`"};
}

} // namespace

StatusOr<verify::Choice> choiceIn(const std::string &folder, const plan::Plan &plan) {
  const verify::Choice steady = steadyStepOf(plan);
  if (folder.empty())
    return steady;
  const ActionTable table(plan, steady);
  const StatusOr<std::vector<trace::RankTrace>> traces =
      readTraces(folder, table, plan::planId(plan));
  if (!traces.ok())
    return traces.status();
  const std::optional<StepKind> kind = tracedKindOf(plan, *traces, /*beginsRound=*/true);
  return kind ? StatusOr<verify::Choice>(stepOf(plan, *kind)) : noWholeStep(folder);
}

StatusOr<Measured> measuredIn(const std::string &folder, const plan::Plan &plan,
                              const verify::ActionTable &table) {
  StatusOr<std::vector<trace::RankTrace>> traces = readTraces(folder, table, plan::planId(plan));
  if (!traces.ok())
    return traces.status();
  const std::optional<std::uint32_t> step = lastStepOf(table, *traces);
  if (!step)
    return noWholeStep(folder);
  alignClocks(table, *traces);
  Measured measured{{.durations = measuredDurations(table, *traces),
                     .origin = fmt::format("medians of the steps traced in {}", folder),
                     .unit = "ms"},
                    measuredStep(table, *traces, *step),
                    *step};
  if (plan.mesh.engines != 0) {
    measured.rounds = tracedRounds(plan, *traces);
    if (const auto later = tracedKindOf(plan, *traces, /*beginsRound=*/false))
      measured.laterMicrobatches = later->microbatches;
  }
  return measured;
}

} // namespace vime
