// TrainingJob: a job with its texts in a folder of its own, and the plan that the compiler's phases
// make of it.
//
//   const TrainingJob job({.schedule = "zb-v", .exports = true});
//   Outcome outcome = job.run(job.plan); // ranks are threads
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/Exec/RankProbe.h"
#include "runtime/Plan/Plan.h"

namespace vime {

struct TrainingShape {
  std::string schedule = "1f1b";
  int ranks = 2, replicas = 1, microbatches = 4, steps = 3;
  std::string model = "family: llama"; // keys of the model that are not the usual ones
  bool recomputes = false, exports = false, saves = false, evaluates = false, hasShortSteps = false;
  int slices = 1;
};

/// What a run tells of itself.
struct Outcome {
  std::vector<double> losses, norms, evaluations;
  std::vector<std::uint64_t> saved; // steps done in each checkpoint
  int exports = 0;
  bool operator==(const Outcome &) const = default;
};

class TrainingJob {
public:
  explicit TrainingJob(const TrainingShape &shape);
  ~TrainingJob();
  TrainingJob(const TrainingJob &) = delete;

  /// Trains the plan, be it this job's or one that was made from it, in a folder of its own. Fails
  /// the test if the run fails.
  Outcome run(const plan::Plan &changed, const RankProbe *probe = nullptr) const;

  plan::Plan plan;

private:
  std::filesystem::path folder;
  mutable int runs = 0;
};

} // namespace vime
