// SmallJob: the small plan (tests/plan/SmallPlan.h) with a text that fits it, as files in a folder
// of their own.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/Plan/Plan.h"
#include "tests/plan/SmallPlan.h"

namespace vime {

class SmallJob {
public:
  explicit SmallJob(const SmallPlanOptions &options = {});
  /// Around another plan with the small plan's data.
  explicit SmallJob(plan::Plan plan);
  ~SmallJob();
  SmallJob(const SmallJob &) = delete;

  /// Writes the plan as it is now; returns its path.
  std::string write() const;

  plan::Plan plan;
  std::filesystem::path folder;
};

} // namespace vime
