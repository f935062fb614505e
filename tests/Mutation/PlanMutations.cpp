#include "tests/Mutation/PlanMutations.h"

#include <vector>

namespace vime {

std::span<const PlanMutation> planMutations() {
  static const std::vector<PlanMutation> kAll = [] {
    std::vector<PlanMutation> all;
    for (const auto &kind : {waitMutations, dispatchMutations, actionMutations, memoryMutations,
                             channelMutations, messageMutations, decisionMutations, clockMutations})
      for (const PlanMutation &mutation : kind())
        all.push_back(mutation);
    return all;
  }();
  return kAll;
}

} // namespace vime
