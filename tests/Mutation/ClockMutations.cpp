// The clock itself: nobody gives such a plan new times.
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool spoilTime(Mutant &mutant) {
  mutant.anyAction().time += mutant.coin() ? 1 : -1;
  return true;
}

bool spoilPeriod(Mutant &mutant) {
  if (mutant.program.loops.empty())
    return false;
  Loop &loop = mutant.program.loops[mutant.below(mutant.program.loops.size())];
  (mutant.coin() ? loop.period : loop.start) += mutant.coin() ? 1 : -1;
  return true;
}

bool swapTimes(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  std::swap(mutant.action(index).time, mutant.program.actions[index + 1].time);
  return true;
}

/// Swapped, and each time stays in its place.
bool swapUnderTheClock(Mutant &mutant) {
  const std::uint32_t index = mutant.below(mutant.program.actions.size() - 1);
  Action &one = mutant.action(index), &other = mutant.program.actions[index + 1];
  std::swap(one, other);
  std::swap(one.time, other.time);
  return true;
}

constexpr std::array kMutations = {
    PlanMutation{"spoil a time", spoilTime, false},
    PlanMutation{"spoil a loop's clock", spoilPeriod, false},
    PlanMutation{"swap two times", swapTimes, false},
    PlanMutation{"swap under the clock", swapUnderTheClock, false},
};

} // namespace

std::span<const PlanMutation> clockMutations() { return kMutations; }

} // namespace vime
