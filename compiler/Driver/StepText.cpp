// A simulated step for people.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/Analysis/StepBody.h"
#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Driver/StepFacts.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime {
namespace {

using verify::ActionTable;

std::string shareOf(std::int64_t part, std::int64_t whole) {
  return fmt::format(
      "{:.1f}%", whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
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

std::string pathLine(const ActionTable &table, const PlanCosts &costs, const StepReport &report) {
  std::string text = "path      ";
  const char *comma = "";
  for (const auto &[name, part] : partsOf(table, report)) {
    text += fmt::format("{}{} {} {}", comma, part.first, name, costs.show(part.second));
    comma = ", ";
  }
  return text + "\n";
}

std::string slackLine(const ActionTable &table, const PlanCosts &costs, const StepFacts &facts) {
  std::vector<std::int64_t> some; // of tasks that have any
  std::size_t none = 0;
  for (std::uint32_t entry = 0; entry < table.size(); ++entry)
    if (facts.report.slack[entry] >= 0 && isTask(table.action(table.rankOf(entry), entry))) {
      none += facts.report.slack[entry] == 0;
      if (facts.report.slack[entry] > 0)
        some.push_back(facts.report.slack[entry]);
    }
  std::sort(some.begin(), some.end());
  std::string text =
      fmt::format("slack     {} of {} have none", none, counted(none + some.size(), "task"));
  if (!some.empty())
    text +=
        fmt::format("; the others {} to {} {}, half of them at least {}", costs.show(some.front()),
                    costs.show(some.back()), costs.unit, costs.show(some[some.size() / 2]));
  return text + "\n";
}

std::string periodLine(const plan::Plan &plan, const PlanCosts &costs, const StepFacts &facts) {
  const auto show = [&](double period) { return costs.show(static_cast<std::int64_t>(period)); };
  const bool early = plan::isPostValidated(plan);
  return fmt::format("order     its steps take {} {} with a barrier at the optimizer{}, {} "
                     "post-validated{}\n",
                     show(facts.order.periods.barrier), costs.unit, early ? "" : " (as here)",
                     show(facts.order.periods.postValidated), early ? " (as here)" : "");
}

std::string boundLine(const plan::Plan &plan, const PlanCosts &costs, const StepFacts &facts) {
  static const std::map<std::string_view, std::string_view> kWords = {
      {"L1", "start"}, {"L2", "warm-up"}, {"L3", "Little's law"}, {"L4", "drain"}, {"L5", "link"}};
  const Bounds &bounds = facts.order.bounds;
  const auto &laws = plan::isPostValidated(plan) ? bounds.spans : bounds.makespans;
  std::string all;
  for (std::size_t law = 0; law < laws.size(); ++law)
    all += fmt::format("{}L{} {}", law == 0 ? "" : ", ", law + 1, costs.show(laws[law]));
  const std::int64_t trains = facts.report.period - facts.report.rollout.all();
  const double gap =
      facts.binding.least == 0
          ? 0
          : static_cast<double>(trains) / static_cast<double>(facts.binding.least) - 1;
  return fmt::format("bound     {} {} by {} {}{}: this step {} {} ({}, L5 {})\n",
                     costs.show(facts.binding.least), costs.unit, facts.binding.label,
                     kWords.at(facts.binding.label.empty() ? "L1" : facts.binding.label),
                     facts.order.splits ? "" : ", for whole backwards",
                     plan.mesh.engines == 0 ? "takes" : "trains",
                     gap < 5e-5 ? std::string("no longer")
                                : fmt::format("{:.1f}% longer", 100 * gap),
                     all, costs.show(bounds.link));
}

constexpr std::size_t kMostLinks = 3;

std::string linkLine(const PlanCosts &costs, const StepFacts &facts) {
  std::string text;
  for (std::size_t place = 0; place < std::min(facts.links.size(), kMostLinks); ++place) {
    const LinkLoad &link = facts.links[place];
    text += fmt::format("{}rank {} → {}: {}, {}, on their way {} {} ({})\n",
                        place == 0 ? "links     " : "          ", link.source, link.destination,
                        counted(link.messages, "message"), bytesInWords(link.bytes),
                        costs.show(link.busy), costs.unit, shareOf(link.busy, facts.report.period));
  }
  if (facts.links.size() > kMostLinks)
    text += fmt::format("          and {} that are less busy\n", facts.links.size() - kMostLinks);
  return text;
}

constexpr std::size_t kMostRows = 16;

std::string aliveIn(const std::vector<TierUse> &memory) {
  std::uint64_t peak = 0;
  for (const TierUse &use : memory)
    peak += use.peak;
  return bytesInWords(peak);
}

std::string rankLine(const PlanCosts &costs, const RankReport &rank,
                     const std::vector<TierUse> &memory) {
  return fmt::format("  {:<6}{:>10}{:>10}{:>12}{:>15}{:>11}{:>11}{:>12}\n", rank.rank,
                     costs.show(rank.busy), costs.show(rank.idle.warmUp),
                     costs.show(rank.idle.dependence), costs.show(rank.idle.communication),
                     costs.show(rank.idle.imbalance), costs.show(rank.idle.coolDown),
                     aliveIn(memory));
}

std::string engineLine(const PlanCosts &costs, const RankReport &rank,
                       const std::vector<TierUse> &memory) {
  return fmt::format("  {:<6}{:>10}{:>16}{:>11}{:>12}\n", rank.rank, costs.show(rank.busy),
                     costs.show(rank.idle.communication), costs.show(rank.idle.otherRole),
                     aliveIn(memory));
}

/// Rows of the ranks [first, end) of the report; of many the first and last ones.
template <typename Line>
std::string rowsOf(const PlanCosts &costs, const StepFacts &facts, std::size_t first,
                   std::size_t end, Line line) {
  std::string text;
  const std::size_t rows = end - first;
  for (std::size_t row = 0; row < rows; ++row)
    if (rows <= kMostRows || row < kMostRows / 2 || row >= rows - kMostRows / 2)
      text += line(costs, facts.report.ranks[first + row], facts.memory[first + row]);
    else if (row == kMostRows / 2)
      text += fmt::format("  … {} more\n", rows - kMostRows);
  return text;
}

std::string stepLine(const PlanCosts &costs, const StepFacts &facts) {
  const StepReport &report = facts.report;
  const std::int64_t trains = report.period - report.rollout.all();
  const std::int64_t all = trains * trainersOf(report);
  const IdleTime sum = sumOf(report);
  std::string text = fmt::format("step      {} {}", costs.show(report.period), costs.unit);
  if (facts.round && facts.round->steps > 1)
    text += " where it begins a round";
  if (facts.round)
    text += fmt::format(", {} of them training", costs.show(trains));
  return text +
         fmt::format(", bubble {}: warm-up {}, dependence {}, communication {}, imbalance {}, "
                     "cool-down {}\n",
                     shareOf(sum.all() - sum.otherRole, all), shareOf(sum.warmUp, all),
                     shareOf(sum.dependence, all), shareOf(sum.communication, all),
                     shareOf(sum.imbalance, all), shareOf(sum.coolDown, all));
}

} // namespace

std::string ranksOf(const plan::Plan &plan) {
  return plan.mesh.engines == 0 ? counted(plan.mesh.ranks(), "rank")
                                : counted(plan.mesh.trainers(), "rank") + " and " +
                                      counted(plan.mesh.engines, "engine");
}

std::string textOf(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
                   const StepFacts &facts) {
  const auto trainers = static_cast<std::size_t>(trainersOf(facts.report));
  std::string text = fmt::format("{}: {} on {}, {} microbatches\ncosts     {}\n", plan.run.name,
                                 plan.schedule, ranksOf(plan), table.microbatches(), costs.origin);
  if (facts.round)
    text += roundText(costs, *facts.round);
  if (facts.drawn)
    text += drawnText(costs, *facts.drawn);
  text += stepLine(costs, facts) + pathLine(table, costs, facts.report) +
          slackLine(table, costs, facts) + periodLine(plan, costs, facts) +
          boundLine(plan, costs, facts) + linkLine(costs, facts);
  text += fmt::format("\n  {:<6}{:>10}{:>10}{:>12}{:>15}{:>11}{:>11}{:>12}\n", "rank", "busy",
                      "warm-up", "dependence", "communication", "imbalance", "cool-down", "alive");
  text += rowsOf(costs, facts, 0, trainers, rankLine);
  if (plan.mesh.engines != 0)
    text += fmt::format("\n  {:<6}{:>10}{:>16}{:>11}{:>12}\n", "engine", "busy", "taking weights",
                        "waiting", "alive") +
            rowsOf(costs, facts, trainers, facts.report.ranks.size(), engineLine);
  return text;
}

} // namespace vime
