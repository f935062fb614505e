// vimec simulate: how long a step of a plan takes before it runs, and why.
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Driver/StepFacts.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;

/// What was measured, and how far it is from what was expected.
std::string textOf(const Measured &measured, const StepReport &was, const StepReport &expected) {
  const double more = static_cast<double>(was.period) / static_cast<double>(expected.period) - 1;
  return fmt::format("\nmeasured  step {} took {} {}, {:.1f}% {} than expected, bubble {:.1f}%\n",
                     measured.step, measured.costs.show(was.period), measured.costs.unit,
                     100 * std::abs(more), more < 0 ? "less" : "more", 100 * was.bubble);
}

} // namespace

int runSimulate(const SimulateArguments &arguments, const OutputOptions &output) {
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  const StatusOr<plan::Plan> plan = plan::readPlan(arguments.plan);
  if (!plan.ok())
    return reportFailure(plan.status(), output);
  Findings findings;
  verifyPlan(*plan, findings); // only a proved plan has a time
  if (findings.any()) {
    SourceCache sources;
    return reportFindings(findings, sources, output);
  }
  const ActionTable table(*plan, steadyStepOf(*plan));
  std::optional<Measured> measured;
  if (!arguments.measured.empty()) {
    StatusOr<Measured> found = measuredIn(arguments.measured, *plan, table);
    if (!found.ok())
      return reportFailure(found.status(), output);
    measured = std::move(*found);
  }
  StatusOr<PlanCosts> found =
      measured && !basis->machine ? measured->costs : costsOf(*plan, *basis);
  if (!found.ok())
    return reportFailure(found.status(), output);
  const PlanCosts &costs = *found;
  const Simulated run = simulate(table, costs.durations);
  if (run.stuck)
    return reportFailure(
        Status(StatusCode::Internal, "the simulated plan stands still: " + *run.stuck), output);
  const StepFacts facts = stepFactsOf(table, costs, run);
  if (output.json) {
    Json json = jsonOf(*plan, table, costs, facts, arguments.actions ? &run : nullptr);
    if (!costs.rows.empty())
      json["cost_rows"] = Json::parse(costRowsJson(costs));
    if (!costs.notes.empty())
      json["notes"] = costs.notes;
    if (measured)
      json["measured"] = jsonOf(*plan, table, costs, stepFactsOf(table, costs, measured->run),
                                arguments.actions ? &measured->run : nullptr);
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << textOf(*plan, table, costs, facts) << costTable(costs);
    if (measured)
      std::cout << textOf(*measured, reportOf(table, measured->run), facts.report);
  }
  return 0;
}

} // namespace vime
