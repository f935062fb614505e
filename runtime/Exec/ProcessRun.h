// ProcessRun: all ranks of a plan as processes on this machine, over the `gloo` transport.
//
//   int main(int argc, char **argv) {
//     if (const std::optional<RankProcess> self = rankOfThisProcess())
//       return runRankProcess(*self, "plan.bin", {.base = "."});              // a rank
//     …
//     Status status = runProcesses(plan, argv, {.base = "."}, observer);      // starts the ranks:
//     this program again
//
// The ranks end with the process that started them, however it ends; one that dies ends all others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Exec/RunOptions.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Starts this executable once per rank with the same arguments, before any thread, and waits for
/// all. The cause of a failure: the rank that was killed, else the first that failed by itself.
/// Leaves no process and no file behind.
Status runProcesses(const plan::Plan &plan, char *const *arguments, const RunOptions &options,
                    RunObserver &observer);

/// Which rank this process was started as.
struct RankProcess {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string store;  // folder where ranks find each other
  int reports = -1;   // pipe to the starting process
  std::string record; // file of the flight record; empty: there is none
};

/// From the environment; nothing when a user started this process.
std::optional<RankProcess> rankOfThisProcess();

/// The exit code of the rank.
int runRankProcess(const RankProcess &self, const std::string &plan, const RunOptions &options);

} // namespace vime
