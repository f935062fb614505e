// JobOfPlan: the job that a plan was made from, to be compiled again with a change.
//
//   const JobAgain job = jobOfPlan(plan);
//   std::optional<plan::Plan> other =
//       compileAgain(job, plan, {"pipeline.schedule=zb-h1"}, whyNot);
//
// A plan carries its job with the origin of every value. What was derived, or is a default, is
// found anew, so that one value can be changed and what follows from it changes with it; but what
// the model is stays what it was, so that no checkpoint is needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// A value that the job states, as YAML.
struct StatedValue {
  std::string path, value;
};

struct JobAgain {
  std::string file; // relative paths count from its folder
  std::vector<StatedValue> values;

  /// Null: the job does not state it.
  const std::string *find(std::string_view path) const;
};

/// Relative paths count from here.
JobAgain jobOfPlan(const plan::Plan &plan);

/// The job in a file, instead.
JobAgain jobInFile(const Job &job);

/// With these settings (`pipeline.schedule=zb-h1`) in the place of what it states. The plan is
/// judged by every verifier. Nothing, and the first reason, if there is none.
std::optional<plan::Plan> compileAgain(const JobAgain &job, const plan::Plan &plan,
                                       const std::vector<std::string> &settings,
                                       std::string &whyNot);

} // namespace vime
