// Waits: dropped, nearer or farther, on another lane.
#include <array>

#include "tests/Mutation/PlanMutations.h"

namespace vime {
namespace {

using namespace plan;

bool dropWait(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (wait)
    *wait = {};
  return wait != nullptr;
}

bool waitForAnother(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (!wait)
    return false;
  const int distance = wait->distance() + (mutant.coin() ? 1 : -1);
  *wait = distance > 0 ? Wait::on(wait->lane(), distance) : Wait();
  return true;
}

bool waitOnAnotherLane(Mutant &mutant) {
  Wait *wait = mutant.anyWait();
  if (wait)
    *wait = Wait::on(static_cast<int>(mutant.below(mutant.program.lanes.size())), wait->distance());
  return wait != nullptr;
}

constexpr std::array kMutations = {
    PlanMutation{"drop a wait", dropWait},
    PlanMutation{"wait for another action", waitForAnother},
    PlanMutation{"wait on another lane", waitOnAnotherLane},
};

} // namespace

std::span<const PlanMutation> waitMutations() { return kMutations; }

} // namespace vime
