// RankProcess: this process as one rank of a run whose ranks are processes, over the `gloo`
// transport, whoever started it (Launch.h).
//
//   StatusOr<std::optional<RankProcess>> self = rankOfThisProcess();
//   if (self.ok() && *self)
//     RankEnd end = runRank(**self, "plan.bin", {.base = "."}, observer);
#pragma once

#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Exec/Launch.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Exec/RunOptions.h"

namespace vime {

struct RankProcess {
  Launch launch;
  int reports = -1;   // pipe to the vime-exec that started it, or -1: started by another program
  std::string record; // file of the flight record that the starting process has made, or empty
};

/// How a rank ended, and whether that began here.
struct RankEnd {
  Status status;
  bool own = true;
};

/// From the environment; nothing when no launcher is seen.
StatusOr<std::optional<RankProcess>> rankOfThisProcess();

/// Meets the other ranks and runs this one's part of the plan. Without a pipe rank 0 also does what
/// the starting process would do: looks at checkpoints and the place of the export, and tells the
/// others which checkpoint `options.resume` has chosen. A rank that fails before it has met the
/// others, be it that it was not `ready`, tells them why. `options.abandon` ends the process.
RankEnd runRank(const RankProcess &self, const std::string &plan, const RunOptions &options,
                RunObserver &observer, const Status &ready = Status());

/// The same with all reports into the pipe. The exit code of the rank.
int runReportingRank(const RankProcess &self, const std::string &plan, RunOptions options);

} // namespace vime
