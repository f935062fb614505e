// The environment that makes a process one rank of a run started by vime-exec: what torchrun sets
// (Launch.cpp), and the pipe. Between ProcessRun.cpp and RankProcess.cpp only.
#pragma once

namespace vime {

constexpr const char *kRecordVariable = "VIME_RECORD"; // file of the rank's flight record
constexpr const char *kReportsVariable =
    "VIME_REPORTS"; // file descriptor of the pipe to the starting process

constexpr const char *kResumeVariable =
    "VIME_RESUME"; // the checkpoint that the starting process has chosen; empty: none

} // namespace vime
