// PlanMutations: the ways in which plans are spoiled, each a class with a name.
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

std::span<const PlanMutation> planMutations();

} // namespace vime
