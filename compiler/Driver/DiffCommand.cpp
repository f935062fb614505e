// vimec diff: what is different between two jobs, two plans or two orders, and what it changes.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Analysis/StepReport.h"
#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Driver/ChangeClass.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Frontend/Fields.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Verify/Verify.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/UnitTime.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;

enum class Kind : std::uint8_t { Job, Plan, Table };

Kind kindOf(const std::string &path) {
  if (holdsTable(path))
    return Kind::Table;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> beginning{};
  file.read(beginning.data(), beginning.size());
  return std::string_view(beginning.data(), beginning.size()).find("VIME") != std::string_view::npos
             ? Kind::Plan
             : Kind::Job;
}

constexpr const char *kKinds[] = {"job", "plan", "table"};

/// What is said of both, in one unit.
struct Measure {
  std::string name;
  double one, other;
  std::string unit; // `%` and bytes are shown their own way
};

/// Where a rank first does something else.
struct Divergence {
  std::uint32_t rank;
  std::size_t place; // action or cell
  std::string one, other;
};

/// A value of a job that differs; empty: not there.
struct Change {
  ChangeClass kind;
  std::string path, one, other;
};

struct Difference {
  std::vector<Change> changes;
  std::vector<Measure> measures;
  std::vector<Divergence> divergences;
  bool any() const {
    return !changes.empty() || !divergences.empty() ||
           std::any_of(measures.begin(), measures.end(),
                       [](const Measure &measure) { return measure.one != measure.other; });
  }
};

// ---- jobs -----------------------------------------------------------------------------------------------------------

std::vector<Change> changesBetween(const std::vector<ResolvedField> &one,
                                   const std::vector<ResolvedField> &other) {
  std::map<std::string, std::string> others;
  for (const ResolvedField &field : other)
    others[field.path] = field.valueText;
  std::vector<Change> changes;
  for (const ResolvedField &field : one) {
    const auto found = others.find(field.path);
    const std::string value = found == others.end() ? std::string() : found->second;
    if (value != field.valueText)
      changes.push_back({changeClassOf(field.path), field.path, field.valueText, value});
    if (found != others.end())
      others.erase(found);
  }
  for (const ResolvedField &field : other)
    if (others.contains(field.path))
      changes.push_back({changeClassOf(field.path), field.path, {}, field.valueText});
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change &left, const Change &right) { return left.kind < right.kind; });
  return changes;
}

std::optional<std::vector<ResolvedField>> fieldsIn(const std::string &path, Findings &findings,
                                                   SourceCache &sources, Status &failure) {
  const StatusOr<std::string> text = readFile(path);
  if (!text.ok()) {
    failure = text.status();
    return std::nullopt;
  }
  sources.add(path, *text);
  const std::optional<Job> job = readJob(*text, path, findings, {}, &sources);
  return job ? std::optional(fieldsOf(*job)) : std::nullopt;
}

// ---- plans ----------------------------------------------------------------------------------------------------------

struct PlanFacts {
  plan::Plan plan;
  std::optional<ActionTable> table;
  StepReport report;
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
  facts.messages = messagesOf(*facts.table);
  for (const plan::Layout &layout : facts.plan.layouts)
    facts.peak = std::max(facts.peak, layout.arena[0]);
  return Status();
}

std::vector<Divergence> divergencesOf(const PlanFacts &one, const PlanFacts &other) {
  std::vector<Divergence> found;
  const auto ranks = std::max(one.table->ranks().size(), other.table->ranks().size());
  const auto say = [](const PlanFacts &facts, std::size_t rank, std::size_t place) {
    if (rank >= facts.table->ranks().size())
      return std::string("no such rank");
    const verify::RankView &view = facts.table->ranks()[rank];
    if (place >= view.end - view.first)
      return std::string("nothing more");
    const verify::Entry &entry = (*facts.table)[view.first + static_cast<std::uint32_t>(place)];
    return plan::describe(facts.plan, view.rank, entry.action, entry.iteration);
  };
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t place = 0;; ++place) {
      const std::string left = say(one, rank, place), right = say(other, rank, place);
      if (left != right)
        found.push_back({static_cast<std::uint32_t>(rank), place, left, right});
      if (left != right || left == "nothing more" || left == "no such rank")
        break;
    }
  return found;
}

Difference differenceOf(const PlanFacts &one, const PlanFacts &other) {
  const auto path = [](const PlanFacts &facts) {
    return static_cast<double>(facts.report.path.size());
  };
  const auto step = [](const PlanFacts &facts) {
    return static_cast<double>(facts.report.period) / facts.perUnit;
  };
  return {
      {},
      {{"step", step(one), step(other), one.unit},
       {"bubble", 100 * one.report.bubble, 100 * other.report.bubble, "%"},
       {"messages", static_cast<double>(one.messages), static_cast<double>(other.messages), ""},
       {"largest arena", static_cast<double>(one.peak), static_cast<double>(other.peak), "bytes"},
       {"critical path", path(one), path(other), "actions"}},
      divergencesOf(one, other)};
}

// ---- orders ---------------------------------------------------------------------------------------------------------

std::optional<OrderTable> tableIn(const std::string &path, Findings &findings, SourceCache &sources,
                                  Status &failure) {
  const StatusOr<std::string> text = readTableFile(path);
  if (!text.ok()) {
    failure = text.status();
    return std::nullopt;
  }
  sources.add(path, *text);
  return judgedTable(*text, path, findings);
}

Difference differenceOf(const OrderTable &one, const OrderTable &other, UnitCosts costs) {
  const UnitTimes left = simulate(one.schedule(), costs), right = simulate(other.schedule(), costs);
  const auto peak = [](const UnitTimes &times) {
    return static_cast<double>(*std::max_element(times.peakLive.begin(), times.peakLive.end()));
  };
  Difference difference{{},
                        {{"makespan", static_cast<double>(left.makespan),
                          static_cast<double>(right.makespan), "units"},
                         {"bubble", 100 * left.bubble, 100 * right.bubble, "%"},
                         {"most activations alive", peak(left), peak(right), ""}},
                        {}};
  const auto ranks = std::max(one.rows.size(), other.rows.size());
  const auto say = [](const OrderTable &table, std::size_t rank, std::size_t place) {
    return rank >= table.rows.size()          ? std::string("no such rank")
           : place >= table.rows[rank].size() ? std::string("nothing more")
                                              : toText(table.rows[rank][place]);
  };
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t place = 0;; ++place) {
      const std::string cell = say(one, rank, place), its = say(other, rank, place);
      if (cell != its)
        difference.divergences.push_back({static_cast<std::uint32_t>(rank), place, cell, its});
      if (cell != its || cell == "nothing more" || cell == "no such rank")
        break;
    }
  return difference;
}

// ---- words ----------------------------------------------------------------------------------------------------------

std::string shown(double value, const std::string &unit) {
  if (unit == "bytes")
    return bytesInWords(static_cast<std::uint64_t>(value));
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return unit.empty() ? text : unit == "%" ? text + "%" : text + " " + unit;
}

std::string changeOf(const Measure &measure) {
  if (measure.one == measure.other)
    return "the same";
  if (measure.unit == "%")
    return fmt::format("{:+.1f} points", measure.other - measure.one);
  return measure.one == 0 ? "" : fmt::format("{:+.1f}%", 100 * (measure.other / measure.one - 1));
}

std::string quotedOrNone(const std::string &value) { return value.empty() ? "not there" : value; }

constexpr std::size_t kMostRanks = 8;

std::string textOf(const Difference &difference) {
  if (!difference.any())
    return "no difference\n";
  std::string text;
  std::size_t widest = 0;
  for (const Change &change : difference.changes)
    widest = std::max(widest, change.path.size());
  for (const Change &change : difference.changes)
    text += fmt::format("{:<10}  {:<{}}  {} → {}\n", nameOf(change.kind), change.path, widest,
                        quotedOrNone(change.one), quotedOrNone(change.other));
  for (const Measure &measure : difference.measures)
    text += fmt::format("{:<24}{:>14}{:>14}  {}\n", measure.name, shown(measure.one, measure.unit),
                        shown(measure.other, measure.unit), changeOf(measure));
  for (std::size_t index = 0; index < difference.divergences.size(); ++index) {
    const Divergence &found = difference.divergences[index];
    if (index == kMostRanks) {
      text += fmt::format("… and {} more ranks\n", difference.divergences.size() - kMostRanks);
      break;
    }
    text += fmt::format("rank {} differs first at {}: {} | {}\n", found.rank, found.place,
                        found.one.empty() ? "idle" : found.one,
                        found.other.empty() ? "idle" : found.other);
  }
  return text;
}

Json jsonOf(const Difference &difference, Kind kind) {
  Json changes = Json::array(), measures = Json::array(), ranks = Json::array();
  for (const Change &change : difference.changes)
    changes.push_back({{"class", nameOf(change.kind)},
                       {"path", change.path},
                       {"one", change.one},
                       {"other", change.other}});
  for (const Measure &measure : difference.measures)
    measures.push_back({{"name", measure.name},
                        {"one", measure.one},
                        {"other", measure.other},
                        {"unit", measure.unit}});
  for (const Divergence &found : difference.divergences)
    ranks.push_back(
        {{"rank", found.rank}, {"place", found.place}, {"one", found.one}, {"other", found.other}});
  return {{"format", "vime-difference"},
          {"format_version", 1},
          {"of", kKinds[static_cast<std::size_t>(kind)]},
          {"different", difference.any()},
          {"changes", changes},
          {"measures", measures},
          {"first_divergences", ranks}};
}

} // namespace

int runDiff(const DiffArguments &arguments, const OutputOptions &output) {
  const Kind kind = kindOf(arguments.one);
  if (const Kind other = kindOf(arguments.other); kind != other)
    return reportFailure(Status(StatusCode::Usage,
                                fmt::format("`{}` is {} {}, `{}` {} {}", arguments.one, "a",
                                            kKinds[static_cast<std::size_t>(kind)], arguments.other,
                                            "a", kKinds[static_cast<std::size_t>(other)])),
                         output, "compare two jobs, two plans or two tables of orders");
  if (kind == Kind::Table && !arguments.costs.machine.empty())
    return reportFailure(Status(StatusCode::Usage, kMachineOfTable), output, kCostsOfTable);
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  SourceCache sources;
  Findings findings;
  Status failure;
  Difference difference;
  if (kind == Kind::Job) {
    const auto one = fieldsIn(arguments.one, findings, sources, failure);
    const auto other = fieldsIn(arguments.other, findings, sources, failure);
    if (one && other)
      difference.changes = changesBetween(*one, *other);
  } else if (kind == Kind::Table) {
    const auto one = tableIn(arguments.one, findings, sources, failure);
    const auto other = tableIn(arguments.other, findings, sources, failure);
    if (one && other)
      difference =
          differenceOf(*one, *other, readCosts(arguments.costs.costs).value_or(UnitCosts{}));
  } else {
    PlanFacts one, other;
    failure = readFacts(arguments.one, *basis, findings, one);
    if (failure.ok())
      failure = readFacts(arguments.other, *basis, findings, other);
    if (failure.ok())
      difference = differenceOf(one, other);
  }
  if (findings.any())
    return reportFindings(findings, sources, output);
  if (!failure.ok())
    return reportFailure(failure, output);
  std::cout << (output.json
                    ? jsonOf(difference, kind).dump(2, ' ', false, Json::error_handler_t::replace) +
                          "\n"
                    : textOf(difference));
  return 0;
}

} // namespace vime
