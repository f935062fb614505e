// vimec simulate: how long a step of a plan takes before it runs, and why.
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Lengths.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Driver/StepFacts.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;

double moreThan(std::int64_t expected, std::int64_t was) {
  return static_cast<double>(was) / static_cast<double>(expected) - 1;
}

/// What was measured, and how far it is from what was expected.
std::string textOf(const Measured &measured, const StepReport &was, const StepFacts &facts) {
  const PlanCosts &costs = measured.costs;
  const double more = moreThan(facts.report.period, was.period);
  std::string text =
      fmt::format("\nmeasured  step {} took {} {}, {:.1f}% {} than expected, bubble {:.1f}%\n",
                  measured.step, costs.show(was.period), costs.unit, 100 * std::abs(more),
                  more < 0 ? "less" : "more", 100 * was.bubble);
  if (facts.round && !measured.rounds.empty()) {
    const TracedRound middle = medianOf(measured.rounds);
    const double longer = moreThan(facts.round->period, middle.period);
    text += fmt::format(
        "          {} took {} {} (median), {:.1f}% {} than expected: sync {}, generation {}, "
        "scoring {}, training {}, the rest {}\n",
        counted(measured.rounds.size(), "round"), costs.show(middle.period), costs.unit,
        100 * std::abs(longer), longer < 0 ? "less" : "more", costs.show(middle.rollout.sync),
        costs.show(middle.rollout.generation), costs.show(middle.rollout.scoring),
        costs.show(middle.period - middle.rollout.all()), costs.show(middle.rollout.rest));
  }
  return text;
}

Json measuredJson(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
                  const Measured &measured, bool actions) {
  StepFacts facts = stepFactsOf(table, costs, measured.run);
  facts.round.reset(); // of it there is no other step
  Json json = jsonOf(plan, table, costs, facts, actions ? &measured.run : nullptr);
  if (measured.rounds.empty())
    return json;
  json["rounds"] = Json::array();
  const auto number = [&](std::int64_t time) { return static_cast<double>(time) / costs.perUnit; };
  for (const TracedRound &round : measured.rounds)
    json["rounds"].push_back({{"round", round.round},
                              {"period", number(round.period)},
                              {"sync", number(round.rollout.sync)},
                              {"generation", number(round.rollout.generation)},
                              {"scoring", number(round.rollout.scoring)},
                              {"training", number(round.period - round.rollout.all())},
                              {"rest", number(round.rollout.rest)}});
  return json;
}

/// Rounds drawn from what is said of lengths, at an engine's costs on the machine or in the run.
StatusOr<DrawnRounds> drawnFor(const plan::Plan &plan, const SimulateArguments &arguments,
                               const std::optional<Measured> &measured, const CostBasis &basis,
                               PlanCosts &costs) {
  if (plan.mesh.engines == 0)
    return Status(StatusCode::InvalidInput, "`--lengths` are of responses, and the plan has none");
  if (!basis.machine && !measured)
    return Status(StatusCode::Usage, "`--lengths` needs to know what an engine's step takes\nhelp: "
                                     "add `--machine`, or `--measured` of a run that dumped its "
                                     "rollouts");
  const StatusOr<Lengths> lengths = readLengths(arguments.lengths, plan);
  if (!lengths.ok())
    return lengths.status();
  std::string engine = "on machine " + (basis.machine ? basis.machine->name : "");
  if (!basis.machine) {
    const StatusOr<EngineCosts> fitted = fittedEngine(plan, *lengths, measured->rounds);
    if (!fitted.ok())
      return fitted.status();
    costs.engine = *fitted;
    engine = fmt::format("{:.1f} us a step and {:.2f} us a token, fitted to the run",
                         1e6 * fitted->step, 1e6 * fitted->row);
  }
  std::erase_if(costs.notes, [](const std::string &note) {
    return note.find("`--lengths`") != std::string::npos; // so it is
  });
  StatusOr<RoundQuantiles> rounds =
      roundQuantiles(plan, costs.durations, costs.engine, lengths->histogram, packingOf(plan));
  if (!rounds.ok())
    return rounds.status();
  return DrawnRounds{std::move(*rounds), lengths->origin, std::move(engine)};
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
  const StatusOr<verify::Choice> choice = choiceIn(arguments.measured, *plan);
  if (!choice.ok())
    return reportFailure(choice.status(), output);
  const ActionTable table(*plan, *choice);
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
  PlanCosts &costs = *found;
  std::optional<DrawnRounds> drawn;
  if (!arguments.lengths.empty()) {
    StatusOr<DrawnRounds> rounds = drawnFor(*plan, arguments, measured, *basis, costs);
    if (!rounds.ok())
      return reportFailure(rounds.status(), output);
    drawn = std::move(*rounds);
    // One round like the middle one, told in full.
    costs.durations.generation = drawn->quantiles.engines;
  }
  const Simulated run = simulate(table, costs.durations);
  if (run.stuck)
    return reportFailure(
        Status(StatusCode::Internal, "the simulated plan stands still: " + *run.stuck), output);
  StepFacts facts = stepFactsOf(table, costs, run, measured ? measured->laterMicrobatches : 0);
  facts.drawn = std::move(drawn);
  if (output.json) {
    Json json = jsonOf(*plan, table, costs, facts, arguments.actions ? &run : nullptr);
    if (!costs.rows.empty())
      json["cost_rows"] = Json::parse(costRowsJson(costs));
    if (!costs.notes.empty())
      json["notes"] = costs.notes;
    if (measured)
      json["measured"] = measuredJson(*plan, table, costs, *measured, arguments.actions);
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << textOf(*plan, table, costs, facts) << costTable(costs);
    if (measured)
      std::cout << textOf(*measured, reportOf(table, measured->run), facts);
  }
  return 0;
}

} // namespace vime
