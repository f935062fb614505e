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

/// "12.1 | 12.9 | 14.2"
std::string timesOf(const PlanCosts &costs, const Quantiles &times) {
  const auto show = [&](double time) { return costs.show(static_cast<std::int64_t>(time)); };
  return fmt::format("{} | {} | {}", show(times.low), show(times.middle), show(times.high));
}

std::string sharesOf(const Quantiles &shares) {
  return fmt::format("{:.1f}% | {:.1f}% | {:.1f}%", 100 * shares.low, 100 * shares.middle,
                     100 * shares.high);
}

} // namespace

std::string drawnText(const PlanCosts &costs, const DrawnRounds &drawn) {
  const RoundQuantiles &rounds = drawn.quantiles;
  return fmt::format(
      "drawn     {} by the plan's seed, each number p10 | p50 | p90\n"
      "          lengths: {}; engine: {}\n"
      "          a round takes {} {}, generation {}, of {:.0f} | {:.0f} | {:.0f} tokens\n"
      "          a step has {:.0f} | {:.0f} | {:.0f} microbatches\n"
      "          ranks that train: bubble {}, waiting for engines {}\n"
      "          engines: waiting for ranks that train and for each other {}\n",
      counted(rounds.rounds, "round"), drawn.lengths, drawn.engine, timesOf(costs, rounds.period),
      costs.unit, timesOf(costs, rounds.generation), rounds.tokens.low, rounds.tokens.middle,
      rounds.tokens.high, rounds.microbatches.low, rounds.microbatches.middle,
      rounds.microbatches.high, sharesOf(rounds.bubble), sharesOf(rounds.trainersWait),
      sharesOf(rounds.enginesWait));
}

nlohmann::ordered_json drawnJson(const PlanCosts &costs, const DrawnRounds &drawn) {
  using Json = nlohmann::ordered_json;
  const RoundQuantiles &rounds = drawn.quantiles;
  const auto of = [](const Quantiles &numbers, double per) {
    return Json{
        {"p10", numbers.low / per}, {"p50", numbers.middle / per}, {"p90", numbers.high / per}};
  };
  return {{"rounds", rounds.rounds},
          {"lengths", drawn.lengths},
          {"engine", drawn.engine},
          {"period", of(rounds.period, costs.perUnit)},
          {"generation", of(rounds.generation, costs.perUnit)},
          {"tokens", of(rounds.tokens, 1)},
          {"microbatches", of(rounds.microbatches, 1)},
          {"trainers", {{"bubble", of(rounds.bubble, 1)}, {"waiting", of(rounds.trainersWait, 1)}}},
          {"engines", {{"waiting", of(rounds.enginesWait, 1)}}}};
}

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
