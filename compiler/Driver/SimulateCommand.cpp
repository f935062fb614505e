// vimec simulate: how long a step of a plan takes before it runs, and why.
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Analysis/StepReport.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;

std::string shareOf(std::int64_t part, std::int64_t whole) {
  return fmt::format(
      "{:.1f}%", whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

IdleTime sumOf(const StepReport &report) {
  IdleTime sum;
  for (const RankReport &rank : report.ranks) {
    sum.warmUp += rank.idle.warmUp;
    sum.dependence += rank.idle.dependence;
    sum.communication += rank.idle.communication;
    sum.imbalance += rank.idle.imbalance;
    sum.coolDown += rank.idle.coolDown;
  }
  return sum;
}

/// What the critical path consists of: by opcode, in the sequence of their shares.
std::vector<std::pair<std::string_view, std::pair<std::size_t, std::int64_t>>>
partsOf(const ActionTable &table, const StepReport &report) {
  std::map<std::string_view, std::pair<std::size_t, std::int64_t>> parts;
  for (const PathPart &part : report.path) {
    if (part.to == part.from)
      continue;
    const plan::Action &action = table.action(table.rankOf(part.entry), part.entry);
    auto &[count, time] = parts[plan::findSignature(action.opcode)->name];
    ++count;
    time += part.to - part.from;
  }
  std::vector<std::pair<std::string_view, std::pair<std::size_t, std::int64_t>>> sorted(
      parts.begin(), parts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &one, const auto &other) {
    return one.second.second > other.second.second;
  });
  return sorted;
}

constexpr std::size_t kMostRows = 16;

std::string textOf(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
                   const StepReport &report) {
  const std::int64_t all = report.period * static_cast<std::int64_t>(report.ranks.size());
  const IdleTime sum = sumOf(report);
  std::string text = fmt::format(
      "{}: {} on {}, {} microbatches\ncosts     {}\nstep      {} {}, bubble {}: warm-up {}, "
      "dependence {}, communication {}, imbalance {}, cool-down {}\n",
      plan.run.name, plan.schedule, counted(plan.mesh.ranks(), "rank"), plan.data.microbatches,
      costs.origin, costs.show(report.period), costs.unit, shareOf(sum.all(), all),
      shareOf(sum.warmUp, all), shareOf(sum.dependence, all), shareOf(sum.communication, all),
      shareOf(sum.imbalance, all), shareOf(sum.coolDown, all));
  text += "path      ";
  const char *comma = "";
  for (const auto &[name, part] : partsOf(table, report)) {
    text += fmt::format("{}{} {} {}", comma, part.first, name, costs.show(part.second));
    comma = ", ";
  }
  text += fmt::format("\n\n  {:<6}{:>10}{:>10}{:>12}{:>15}{:>11}{:>11}\n", "rank", "busy",
                      "warm-up", "dependence", "communication", "imbalance", "cool-down");
  for (std::size_t row = 0; row < report.ranks.size(); ++row) {
    const RankReport &rank = report.ranks[row];
    if (report.ranks.size() > kMostRows && row >= kMostRows / 2 &&
        row < report.ranks.size() - kMostRows / 2) {
      if (row == kMostRows / 2)
        text += fmt::format("  … {} more\n", report.ranks.size() - kMostRows);
      continue;
    }
    text += fmt::format("  {:<6}{:>10}{:>10}{:>12}{:>15}{:>11}{:>11}\n", rank.rank,
                        costs.show(rank.busy), costs.show(rank.idle.warmUp),
                        costs.show(rank.idle.dependence), costs.show(rank.idle.communication),
                        costs.show(rank.idle.imbalance), costs.show(rank.idle.coolDown));
  }
  return text;
}

/// What was measured, and how far it is from what was expected.
std::string textOf(const Measured &measured, const StepReport &was, const StepReport &expected) {
  const double ratio = static_cast<double>(was.period) / static_cast<double>(expected.period);
  const std::int64_t all = was.period * static_cast<std::int64_t>(was.ranks.size());
  return fmt::format("\nmeasured  step {} took {} {}, {:+.1f}% of what was expected, bubble {}\n",
                     measured.step, measured.costs.show(was.period), measured.costs.unit,
                     100 * (ratio - 1), shareOf(sumOf(was).all(), all));
}

Json jsonOf(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
            const StepReport &report) {
  const auto number = [&](std::int64_t time) { return static_cast<double>(time) / costs.perUnit; };
  const auto idle = [&](const IdleTime &time) {
    return Json{{"warm_up", number(time.warmUp)},
                {"dependence", number(time.dependence)},
                {"communication", number(time.communication)},
                {"imbalance", number(time.imbalance)},
                {"cool_down", number(time.coolDown)}};
  };
  Json ranks = Json::array();
  for (const RankReport &rank : report.ranks)
    ranks.push_back({{"rank", rank.rank}, {"busy", number(rank.busy)}, {"idle", idle(rank.idle)}});
  Json path = Json::array();
  for (const PathPart &part : report.path) {
    const verify::RankView &rank = table.rankOf(part.entry);
    const verify::Entry &entry = table[part.entry];
    path.push_back({{"rank", rank.rank},
                    {"action", entry.action},
                    {"what", plan::describe(plan, rank.rank, entry.action, entry.iteration)},
                    {"from", number(part.from)},
                    {"to", number(part.to)}});
  }
  return {{"plan", plan.run.name},
          {"schedule", plan.schedule},
          {"costs", costs.origin},
          {"unit", costs.unit},
          {"period", number(report.period)},
          {"bubble", report.bubble},
          {"idle", idle(sumOf(report))},
          {"ranks", ranks},
          {"path", path}};
}

} // namespace

int runSimulate(const SimulateArguments &arguments, const OutputOptions &output) {
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
  const PlanCosts costs = measured ? measured->costs : costsOf(*plan, arguments.costs);
  const Simulated run = simulate(table, costs.durations);
  if (run.stuck)
    return reportFailure(
        Status(StatusCode::Internal, "the simulated plan stands still: " + *run.stuck), output);
  const StepReport report = reportOf(table, run);
  if (output.json) {
    Json json = jsonOf(*plan, table, costs, report);
    if (measured)
      json["measured"] = jsonOf(*plan, table, costs, reportOf(table, measured->run));
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << textOf(*plan, table, costs, report);
    if (measured)
      std::cout << textOf(*measured, reportOf(table, measured->run), report);
  }
  return 0;
}

} // namespace vime
