// A simulated round, for people and for programs.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/StepFacts.h"
#include "runtime/Base/Counted.h"

namespace vime {
namespace {

/// Of the role's ranks in a round.
std::string shareOf(std::int64_t part, const RoleTimes &role, std::int64_t period) {
  const double all = static_cast<double>(role.ranks) * static_cast<double>(period);
  return fmt::format("{:.1f}%", all == 0 ? 0 : 100 * static_cast<double>(part) / all);
}

} // namespace

std::string roundText(const PlanCosts &costs, const RoundTimes &round) {
  const RoleTimes &trains = round.trainers, &engines = round.engines;
  return fmt::format(
      "round     {} {} of {}: sync {}, generation {}, scoring {}, training {}, the rest {}\n"
      "roles     {} train: busy {}, bubble {}, waiting for engines {}\n"
      "          {}: busy {}, taking weights {}, waiting for ranks that train {}\n",
      costs.show(round.period), costs.unit, counted(round.steps, "step"),
      costs.show(round.rollout.sync), costs.show(round.rollout.generation),
      costs.show(round.rollout.scoring), costs.show(round.training), costs.show(round.rollout.rest),
      counted(static_cast<std::uint64_t>(trains.ranks), "rank"),
      shareOf(trains.busy, trains, round.period), shareOf(trains.idle, trains, round.period),
      shareOf(trains.other, trains, round.period),
      counted(static_cast<std::uint64_t>(engines.ranks), "engine"),
      shareOf(engines.busy, engines, round.period), shareOf(engines.sync, engines, round.period),
      shareOf(engines.other, engines, round.period));
}

nlohmann::ordered_json roundJson(const PlanCosts &costs, const RoundTimes &round) {
  const auto number = [&](std::int64_t time) { return static_cast<double>(time) / costs.perUnit; };
  return {{"steps", round.steps},
          {"period", number(round.period)},
          {"sync", number(round.rollout.sync)},
          {"generation", number(round.rollout.generation)},
          {"scoring", number(round.rollout.scoring)},
          {"training", number(round.training)},
          {"rest", number(round.rollout.rest)},
          {"bubble", round.bubble},
          {"trainers",
           {{"ranks", round.trainers.ranks},
            {"busy", number(round.trainers.busy)},
            {"bubble", number(round.trainers.idle)},
            {"waiting", number(round.trainers.other)}}},
          {"engines",
           {{"ranks", round.engines.ranks},
            {"busy", number(round.engines.busy)},
            {"taking_weights", number(round.engines.sync)},
            {"waiting", number(round.engines.other)}}}};
}

} // namespace vime
