#include "runtime/Exec/RunOptions.h"

#include <fmt/format.h>

#include "runtime/Base/Counted.h"
#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"

namespace vime {

std::chrono::nanoseconds transferLimit(const plan::Plan &plan) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(plan.limits.transferSeconds));
}

std::chrono::nanoseconds peerLimit(const plan::Plan &plan, bool seesAll) {
  constexpr std::chrono::hours kForever{24 * 365};
  if (!plan::hasRounds(plan))
    return transferLimit(plan);
  return seesAll ? kForever : transferLimit(plan) * kRoundPatience;
}

Status checkMemory(const plan::Plan &plan) {
  std::uint64_t needed = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    for (const std::uint64_t bytes : plan::layoutOf(plan, rank)->arena)
      needed += bytes;
  if (const std::uint64_t available = availableMemory(); needed > available)
    return Status(StatusCode::Unacceptable,
                  fmt::format("the plan needs {} MiB on {}, this machine has {} MiB to give",
                              needed >> 20, counted(plan.mesh.ranks(), "rank"), available >> 20));
  return Status();
}

Status checkExport(const plan::Plan &plan, const std::string &base) {
  if (plan.run.exportTo.empty())
    return Status();
  return checkExportTarget(pathFrom(base, plan.run.exportTo));
}

Status checkSaving(const plan::Plan &plan, const RunOptions &options) {
  if (plan.checkpoint.directory.empty())
    return Status();
  return checkCheckpointDirectory(pathFrom(options.base, plan.checkpoint.directory),
                                  options.resume.kind != ResumeWish::Kind::No);
}

StatusOr<ExportClaim> claimExport(const plan::Plan &plan, const std::string &base) {
  if (plan.run.exportTo.empty())
    return ExportClaim();
  return ExportClaim::take(pathFrom(base, plan.run.exportTo));
}

} // namespace vime
