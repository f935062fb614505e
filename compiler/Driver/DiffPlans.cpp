#include <algorithm>
#include <optional>

#include "compiler/Analysis/RoundTimes.h"
#include "compiler/Driver/Difference.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using verify::ActionTable;

struct PlanFacts {
  plan::Plan plan;
  std::optional<ActionTable> table;
  StepReport report;
  std::optional<RoundTimes> round;
  std::uint64_t messages = 0, peak = 0;
  std::string unit; // of its times
  double perUnit = 1;
};

std::uint64_t messagesOf(const ActionTable &table) {
  std::uint64_t messages = 0;
  for (const verify::Channel &channel : table.channels())
    messages += table.dispatched(table.lanes()[channel.sendLanes.front()]).size();
  return messages;
}

Status readFacts(const std::string &path, const CostBasis &basis, Findings &findings,
                 PlanFacts &facts) {
  StatusOr<plan::Plan> plan = plan::readPlan(path);
  if (!plan.ok())
    return plan.status();
  facts.plan = std::move(*plan);
  verifyPlan(facts.plan, findings, path);
  if (findings.any())
    return Status(StatusCode::InvalidInput, "only proved plans are compared");
  facts.table.emplace(facts.plan, steadyStepOf(facts.plan));
  StatusOr<PlanCosts> costs = costsOf(facts.plan, basis);
  if (!costs.ok())
    return costs.status();
  facts.unit = costs->unit;
  facts.perUnit = costs->perUnit;
  facts.report = reportOf(*facts.table, simulate(*facts.table, costs->durations));
  if (facts.plan.mesh.engines != 0)
    facts.round = simulatedRound(facts.plan, costs->durations);
  facts.messages = messagesOf(*facts.table);
  for (const plan::Layout &layout : facts.plan.layouts)
    facts.peak = std::max(facts.peak, layout.arena[0]);
  return Status();
}

Rows rowsOf(const PlanFacts &facts) {
  const auto ranks = facts.table->ranks();
  return {ranks.size(), [ranks](std::size_t rank) { return ranks[rank].end - ranks[rank].first; },
          [ranks, &facts](std::size_t rank, std::size_t place) {
            const verify::Entry &entry =
                (*facts.table)[ranks[rank].first + static_cast<std::uint32_t>(place)];
            return plan::describe(facts.plan, ranks[rank].rank, entry.action, entry.iteration);
          }};
}

/// Rounds of both, where both have them.
void addRounds(const PlanFacts &one, const PlanFacts &other, std::vector<Measure> &measures) {
  if (!one.round || !other.round)
    return;
  const auto add = [&](const char *name, auto timeOf) {
    measures.push_back({name, static_cast<double>(timeOf(*one.round)) / one.perUnit,
                        static_cast<double>(timeOf(*other.round)) / other.perUnit, one.unit});
  };
  add("round", [](const RoundTimes &round) { return round.period; });
  add("  sync", [](const RoundTimes &round) { return round.rollout.sync; });
  add("  generation", [](const RoundTimes &round) { return round.rollout.generation; });
  add("  training", [](const RoundTimes &round) { return round.training; });
  const auto waiting = [](const RoundTimes &round) {
    const double all = static_cast<double>(round.engines.ranks) * static_cast<double>(round.period);
    return all == 0 ? 0 : 100 * static_cast<double>(round.engines.other) / all;
  };
  measures.push_back({"engines waiting", waiting(*one.round), waiting(*other.round), "%"});
}

Difference differenceOf(const PlanFacts &one, const PlanFacts &other) {
  const auto path = [](const PlanFacts &facts) {
    return static_cast<double>(facts.report.path.size());
  };
  const auto step = [](const PlanFacts &facts) {
    return static_cast<double>(facts.report.period) / facts.perUnit;
  };
  Difference difference{
      {},
      {{"step", step(one), step(other), one.unit},
       {"bubble", 100 * one.report.bubble, 100 * other.report.bubble, "%"},
       {"messages", static_cast<double>(one.messages), static_cast<double>(other.messages), ""},
       {"largest arena", static_cast<double>(one.peak), static_cast<double>(other.peak), "bytes"},
       {"critical path", path(one), path(other), "actions"}},
      divergencesBetween(rowsOf(one), rowsOf(other))};
  addRounds(one, other, difference.measures);
  return difference;
}

} // namespace

StatusOr<Difference> differenceOfPlans(const DiffArguments &arguments, const CostBasis &basis,
                                       Findings &findings) {
  PlanFacts one, other;
  if (const Status read = readFacts(arguments.one, basis, findings, one); !read.ok())
    return read;
  if (const Status read = readFacts(arguments.other, basis, findings, other); !read.ok())
    return read;
  return differenceOf(one, other);
}

} // namespace vime
