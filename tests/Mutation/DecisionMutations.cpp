// Loops, guards, cases and what they ask for.
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool changeLoop(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  Loop &loop = mutant.program.loops[mutant.below(mutant.program.loops.size())];
  switch (mutant.below(5)) {
  case 0:
    loop.trips += mutant.coin() ? 1 : -1;
    break;
  case 1:
    loop.begin += mutant.coin() ? 1 : -1;
    break;
  case 2:
    loop.end += mutant.coin() ? 1 : -1;
    break;
  case 3:
    loop.perTrip = loop.perTrip == 0 ? 1 : mutant.below(3);
    break;
  default:
    loop.until = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  }
  return true;
}

/// On all ranks, so that they agree.
bool changeLoopEverywhere(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  const std::uint32_t id = mutant.program.loops[mutant.below(mutant.program.loops.size())].id;
  const std::uint32_t part = mutant.below(3);
  const bool more = mutant.coin();
  const auto until = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  for (Program &program : mutant.plan.programs)
    for (Loop &loop : program.loops)
      if (loop.id == id) {
        if (part == 0)
          loop.trips += more ? 1 : -1;
        else if (part == 1)
          loop.until = until;
        else
          loop.perTrip = loop.perTrip == 0 ? 1 : 0;
      }
  return true;
}

bool changeGuard(Mutant &mutant) {
  if (mutant.plan.conditions.empty())
    return false;
  std::vector<std::uint32_t> guarded;
  for (std::uint32_t index = 0; index < mutant.program.actions.size(); ++index)
    if (mutant.program.actions[index].guard != 0)
      guarded.push_back(index);
  Action &action = !guarded.empty() && mutant.coin()
                       ? mutant.action(guarded[mutant.below(guarded.size())])
                       : mutant.anyAction();
  action.guard = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  return true;
}

/// Every action of this kind, on all ranks.
bool changeGuardEverywhere(Mutant &mutant) {
  if (mutant.plan.conditions.empty())
    return false;
  const std::uint16_t opcode = mutant.anyAction().opcode;
  const auto guard = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  for (Program &program : mutant.plan.programs)
    for (Action &action : program.actions)
      if (action.opcode == opcode)
        action.guard = guard;
  return true;
}

bool changeCase(Mutant &mutant) {
  if (mutant.program.cases.empty())
    return false;
  const std::uint32_t index = mutant.below(mutant.program.cases.size());
  Case &one = mutant.program.cases[index];
  switch (mutant.below(3)) {
  case 0:
    one.begin += mutant.coin() ? 1 : -1;
    break;
  case 1:
    one.end += mutant.coin() ? 1 : -1;
    break;
  default:
    one.condition = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  }
  return true;
}

bool changeCaseEverywhere(Mutant &mutant) {
  if (mutant.program.cases.empty())
    return false;
  const std::uint32_t index = mutant.below(mutant.program.cases.size());
  const auto condition = static_cast<std::uint8_t>(mutant.below(mutant.plan.conditions.size() + 1));
  const bool dissolves = mutant.below(3) == 0;
  for (Program &program : mutant.plan.programs)
    if (index < program.cases.size()) {
      if (dissolves)
        program.cases.erase(program.cases.begin() + index);
      else
        program.cases[index].condition = condition;
    }
  return true;
}

bool changeCondition(Mutant &mutant) {
  auto &conditions = mutant.plan.conditions;
  if (conditions.empty())
    return false;
  Condition &condition = conditions[mutant.below(conditions.size())];
  switch (mutant.below(3)) {
  case 0:
    condition.value += mutant.coin() ? 1 : -1;
    break;
  case 1:
    condition.comparison = static_cast<Comparison>(mutant.below(4));
    break;
  default:
    condition.decision = static_cast<Decision>(mutant.below(5));
  }
  return true;
}

bool changeRange(Mutant &mutant) {
  auto &decisions = mutant.plan.decisions;
  if (decisions.empty())
    return false;
  DecisionRange &range = decisions[mutant.below(decisions.size())];
  mutant.what += " values of decision " + std::to_string(static_cast<int>(range.decision));
  if (mutant.coin())
    range.values.erase(range.values.begin() + mutant.below(range.values.size()));
  else
    range.values[mutant.below(range.values.size())] += mutant.coin() ? 1 : -1;
  return true;
}

bool changeSteps(Mutant &mutant) {
  mutant.plan.run.steps += mutant.coin() ? 1 : -1;
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"change a loop", changeLoop},
    PlanMutation{"change a loop everywhere", changeLoopEverywhere},
    PlanMutation{"change a guard", changeGuard},
    PlanMutation{"change a guard everywhere", changeGuardEverywhere},
    PlanMutation{"change a case", changeCase},
    PlanMutation{"change a case everywhere", changeCaseEverywhere},
    PlanMutation{"change a condition", changeCondition},
    PlanMutation{"change a decision's range", changeRange},
    PlanMutation{"another number of steps", changeSteps},
};

} // namespace

std::span<const PlanMutation> decisionMutations() { return kMutations; }

} // namespace vime
