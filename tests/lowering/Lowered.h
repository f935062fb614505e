// A job for tests, made without a job file, and its plan.
#pragma once

#include <string>

#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct JobShape {
  std::string schedule = "1f1b";
  std::uint32_t ranks = 2, microbatches = 3, chunks = 1, layers = 16; // ranks of a replica
  std::string exportTo = "";
  std::uint32_t replicas = 1;
  bool tiedHead = false, recomputesLayers = false;
};

Job jobOf(const JobShape &shape);
/// The plan as all phases leave it; fails the test if there is none.
plan::Plan lowered(const JobShape &shape);

} // namespace vime
