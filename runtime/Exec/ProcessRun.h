// ProcessRun: all ranks of a plan as processes on this machine, over the `gloo` transport.
//
//   int main(int argc, char **argv) {
//     …                                            // no rank: RankProcess.h
//     Status status = runProcesses(plan, argv, {.base = "."}, observer); // starts the ranks: this
//                                                                        // program again
//
// Each rank is started with the variables that torchrun sets, and one more: a pipe for its reports.
// The ranks end with the process that started them, however it ends; one that dies ends all others.
#pragma once

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

} // namespace vime
