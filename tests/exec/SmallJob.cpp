#include "tests/exec/SmallJob.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "runtime/Base/FileHash.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

SmallJob::SmallJob(const SmallPlanOptions &options) : SmallJob(smallPlan(options)) {}

SmallJob::SmallJob(plan::Plan given) : plan(std::move(given)) {
  std::string pattern = std::filesystem::temp_directory_path() / "vime-test-XXXXXX";
  folder = mkdtemp(pattern.data());
  std::ofstream(folder / plan.data.text) << std::string(plan.data.textBytes, 'a');
  const StatusOr<FileFingerprint> found = hashFile((folder / plan.data.text).string());
  plan.data.textBytes = found->bytes;
  plan.data.textHash = found->hash;
}

SmallJob::~SmallJob() { std::filesystem::remove_all(folder); }

std::string SmallJob::write() const {
  const std::string path = (folder / "plan.bin").string();
  const Status written = plan::writePlan(plan, path);
  EXPECT_TRUE(written.ok()) << written.message();
  return path;
}

} // namespace vime
