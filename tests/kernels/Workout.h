// A workout: one call of one kernel on made-up inputs, and every byte that it wrote. The tests of
// bits run the same workout in two ways and compare.
#pragma once

#include "tests/Conformance/KernelsTensor.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vime {

/// How the memory of a workout lies; results must not depend on it.
struct Placement {
  std::int64_t gap = 0;          // elements between rows
  std::int64_t misalignment = 0; // elements, of tensors and of the workspace
};

struct Workout {
  std::string name;
  std::function<std::vector<std::byte>(const Kernels &, Placement)> run;
};

/// Every kernel on sizes around vectors, panels, blocks and chunks.
std::vector<Workout> workouts();

} // namespace vime
