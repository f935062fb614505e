// Dispatch order: actions that stand elsewhere, twice or nowhere.
#include <algorithm>
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool swapNeighbours(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  std::swap(mutant.action(index), mutant.program.actions[index + 1]);
  return true;
}

bool swapAny(Mutant &mutant) {
  Action &one = mutant.anyAction(), &other = mutant.anyAction();
  std::swap(one, other);
  return true;
}

bool moveElsewhere(Mutant &mutant) {
  const std::uint32_t count = static_cast<std::uint32_t>(mutant.program.actions.size());
  const std::uint32_t from = mutant.below(count);
  mutant.action(from);
  const std::uint32_t to =
      mutant.coin() ? mutant.below(count)
                    : std::min(count - 1, from > 3 ? from - 3 + mutant.below(7) : mutant.below(7));
  mutant.move(mutant.program, from, to);
  return true;
}

bool drop(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size());
  mutant.action(index);
  mutant.erase(mutant.program, index);
  return true;
}

bool duplicate(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size());
  const Action copy = mutant.action(index);
  mutant.insert(mutant.program,
                mutant.coin() ? index + 1 : mutant.below(mutant.program.actions.size()), copy);
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"swap neighbours", swapNeighbours}, PlanMutation{"swap two actions", swapAny},
    PlanMutation{"move an action", moveElsewhere},   PlanMutation{"drop an action", drop},
    PlanMutation{"duplicate an action", duplicate},
};

} // namespace

std::span<const PlanMutation> dispatchMutations() { return kMutations; }

} // namespace vime
