// A simulated step for programs.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "compiler/Analysis/StepBody.h"
#include "compiler/Driver/StepFacts.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;
using verify::ActionTable;
using verify::kNone;

class StepJson {
public:
  StepJson(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
           const StepFacts &facts, const Simulated *actions)
      : plan(plan), table(table), costs(costs), facts(facts), actions(actions) {}

  Json make() const {
    const StepReport &report = facts.report;
    Json ranks = Json::array(), path = Json::array(), links = Json::array();
    for (std::size_t rank = 0; rank < report.ranks.size(); ++rank)
      ranks.push_back(ofRank(rank));
    for (const PathPart &part : report.path)
      path.push_back(ofPath(part));
    for (const LinkLoad &link : facts.links)
      links.push_back({{"source", link.source},
                       {"destination", link.destination},
                       {"messages", link.messages},
                       {"bytes", link.bytes},
                       {"busy", number(link.busy)}});
    Json json{{"plan", plan.run.name},
              {"schedule", plan.schedule},
              {"costs", costs.origin},
              {"unit", costs.unit},
              {"period", number(report.period)},
              {"bubble", report.bubble},
              {"idle", idle(sumOf(report))},
              {"order", order()},
              {"bounds", bounds()},
              {"links", links},
              {"ranks", ranks},
              {"path", path}};
    if (facts.round)
      json["round"] = roundJson(costs, *facts.round);
    if (facts.drawn)
      json["drawn_rounds"] = drawnJson(costs, *facts.drawn);
    return json;
  }

private:
  double number(std::int64_t time) const { return static_cast<double>(time) / costs.perUnit; }

  Json idle(const IdleTime &time) const {
    Json json{{"warm_up", number(time.warmUp)},
              {"dependence", number(time.dependence)},
              {"communication", number(time.communication)},
              {"imbalance", number(time.imbalance)},
              {"cool_down", number(time.coolDown)}};
    if (plan.mesh.engines != 0)
      json["other_role"] = number(time.otherRole);
    return json;
  }

  Json order() const {
    return {{"commit", plan::isPostValidated(plan) ? "post_validated" : "barrier"},
            {"barrier", facts.order.periods.barrier / costs.perUnit},
            {"post_validated", facts.order.periods.postValidated / costs.perUnit}};
  }

  Json bounds() const {
    const Bounds &bounds = facts.order.bounds;
    const auto laws = [&](const std::array<std::int64_t, 4> &all) {
      return Json{{"L1", number(all[0])},
                  {"L2", number(all[1])},
                  {"L3", number(all[2])},
                  {"L4", number(all[3])}};
    };
    return {{"barrier", laws(bounds.makespans)}, {"post_validated", laws(bounds.spans)},
            {"L5", number(bounds.link)},         {"splits_backward", facts.order.splits},
            {"binding", facts.binding.label},    {"least", number(facts.binding.least)}};
  }

  Json ofRank(std::size_t index) const {
    const RankReport &rank = facts.report.ranks[index];
    Json memory = Json::array();
    for (const TierUse &use : facts.memory[index])
      memory.push_back(ofTier(table.ranks()[index], use));
    Json json{{"rank", rank.rank},
              {"busy", number(rank.busy)},
              {"idle", idle(rank.idle)},
              {"memory", memory}};
    if (plan.mesh.engines != 0)
      json["role"] = rank.isEngine ? "engine" : "trainer";
    if (actions)
      json["actions"] = actionsOf(table.ranks()[index]);
    return json;
  }

  std::string whatIs(const verify::RankView &rank, std::uint32_t entry) const {
    return plan::describe(plan, rank.rank, table[entry].action, table[entry].iteration);
  }

  Json ofTier(const verify::RankView &rank, const TierUse &use) const {
    Json json{{"tier", plan::nameOf(use.tier)},
              {"arena_bytes", use.arena},
              {"peak_bytes", use.peak},
              {"peak_action", nullptr},
              {"peak_text", nullptr}};
    if (use.entry != kNone) {
      json["peak_action"] = table[use.entry].action;
      json["peak_text"] = whatIs(rank, use.entry);
    }
    if (actions)
      json["alive_bytes"] = aliveIn(rank, use);
    return json;
  }

  /// From when on, and how many: where it changes.
  Json aliveIn(const verify::RankView &rank, const TierUse &use) const {
    Json points = Json::array();
    std::uint64_t last = ~std::uint64_t{0};
    const auto [first, end] = stepEntriesOf(rank);
    for (std::uint32_t entry = first; entry < end; ++entry)
      if (const std::uint64_t bytes = use.alive[entry - rank.first]; bytes != last) {
        points.push_back({number(actions->times[entry].posted - actions->stepBegin), bytes});
        last = bytes;
      }
    return points;
  }

  /// Null of what was measured.
  Json slackOf(std::uint32_t entry) const {
    return facts.report.slack[entry] < 0 ? Json() : Json(number(facts.report.slack[entry]));
  }

  Json ofPath(const PathPart &part) const {
    const verify::RankView &rank = table.rankOf(part.entry);
    return {{"rank", rank.rank},
            {"action", table[part.entry].action},
            {"what", whatIs(rank, part.entry)},
            {"from", number(part.from)},
            {"to", number(part.to)},
            {"slack", slackOf(part.entry)}};
  }

  Json actionsOf(const verify::RankView &rank) const {
    Json all = Json::array();
    const auto [first, end] = stepEntriesOf(rank);
    for (std::uint32_t entry = first; entry < end; ++entry) {
      const ActionTimes &times = actions->times[entry];
      const auto at = [&](std::int64_t time) { return number(time - actions->stepBegin); };
      all.push_back({{"action", table[entry].action},
                     {"what", whatIs(rank, entry)},
                     {"posted", at(times.posted)},
                     {"ready", at(times.ready)},
                     {"begin", at(times.begin)},
                     {"end", at(times.end)},
                     {"slack", slackOf(entry)}});
    }
    return all;
  }

  const plan::Plan &plan;
  const ActionTable &table;
  const PlanCosts &costs;
  const StepFacts &facts;
  const Simulated *actions;
};

} // namespace

Json jsonOf(const plan::Plan &plan, const ActionTable &table, const PlanCosts &costs,
            const StepFacts &facts, const Simulated *actions) {
  return StepJson(plan, table, costs, facts, actions).make();
}

} // namespace vime
