// PlanMutations: the ways in which plans are spoiled, each a class with a name; those of one kind
// are one file.
#pragma once

#include <span>
#include <string_view>

#include "tests/Mutation/Mutant.h"

namespace vime {

struct PlanMutation {
  std::string_view name;
  /// False if there was nothing to change.
  bool (*apply)(Mutant &mutant);
  bool reclocked = true; // else the clock is what is spoiled, or stays right
};

std::span<const PlanMutation> waitMutations();
std::span<const PlanMutation> dispatchMutations();
std::span<const PlanMutation> actionMutations();
std::span<const PlanMutation> memoryMutations();
std::span<const PlanMutation> channelMutations();
std::span<const PlanMutation> messageMutations();
std::span<const PlanMutation> decisionMutations();
std::span<const PlanMutation> clockMutations();

/// All of them. A mutant's number says which one it has, so new ones change what numbers mean.
std::span<const PlanMutation> planMutations();

} // namespace vime
