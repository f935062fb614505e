// StepFacts: all that is known of a simulated step of a plan: what `vimec simulate` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "compiler/Analysis/LinkLoad.h"
#include "compiler/Analysis/MemoryUse.h"
#include "compiler/Analysis/OrderFacts.h"
#include "compiler/Analysis/RoundQuantiles.h"
#include "compiler/Analysis/RoundTimes.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Driver/PlanCosts.h"

namespace vime {

/// Rounds of responses whose lengths are drawn.
struct DrawnRounds {
  RoundQuantiles quantiles;
  std::string lengths, engine; // where they are from
};

struct StepFacts {
  StepReport report; // with slack
  std::vector<LinkLoad> links;
  std::vector<std::vector<TierUse>> memory; // of each rank of the table
  OrderFacts order;

  Bound binding;                    // of them
  std::optional<RoundTimes> round;  // of a plan with rounds
  std::optional<DrawnRounds> drawn; // if it is known how long responses are
};

/// Of a proved plan, and a run that was not stuck; if it begins a round, the other steps of the
/// round have so many microbatches, 0: as many as this one.
StepFacts stepFactsOf(const verify::ActionTable &table, const PlanCosts &costs,
                      const Simulated &run, std::uint32_t laterMicrobatches = 0);

std::string drawnText(const PlanCosts &costs, const DrawnRounds &drawn);
nlohmann::ordered_json drawnJson(const PlanCosts &costs, const DrawnRounds &drawn);

/// What a round consists of, and what its roles do in it.
std::string roundText(const PlanCosts &costs, const RoundTimes &round);
nlohmann::ordered_json roundJson(const PlanCosts &costs, const RoundTimes &round);

/// "4 ranks and 2 engines".
std::string ranksOf(const plan::Plan &plan);

/// For people: a paragraph, and a line for each rank.
std::string textOf(const plan::Plan &plan, const verify::ActionTable &table, const PlanCosts &costs,
                   const StepFacts &facts);

/// For programs; with the times and slack of each action, and memory behind it, if asked for.
nlohmann::ordered_json jsonOf(const plan::Plan &plan, const verify::ActionTable &table,
                              const PlanCosts &costs, const StepFacts &facts,
                              const Simulated *actions = nullptr);

} // namespace vime
