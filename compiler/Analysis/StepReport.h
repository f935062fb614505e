// StepReport: what a simulated step is made of: where the time of each rank goes, and the chain of
// actions that makes the step as long as it is.
//
//   const StepReport report = reportOf(table, simulate(table, durations));
//   report.ranks[3].idle.warmUp         // until its first task
//   report.path.back()                  // what the step ends with
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/Analysis/RolloutTimes.h"
#include "compiler/Analysis/Simulate.h"

namespace vime {

/// Idle time of a rank in a period by its cause, in nanoseconds.
struct IdleTime {
  std::int64_t warmUp = 0;        // until its first task
  std::int64_t dependence = 0;    // what it needed was still being computed
  std::int64_t communication = 0; // what it needed was on its way, or waited for the link
  std::int64_t imbalance = 0; // of those two: as much less as it has to do than the busiest rank
  std::int64_t coolDown = 0;  // behind its last task
  /// Of a step of a round, in which the ranks that train wait for the engines, then the other way
  /// round.
  std::int64_t otherRole = 0;
  std::int64_t all() const {
    return warmUp + dependence + communication + imbalance + coolDown + otherRole;
  }
};

struct RankReport {
  std::uint32_t rank = 0;
  bool isEngine = false; // computes nothing of the pipeline; `communication`: weights come
  std::int64_t busy = 0;
  IdleTime idle;
};

/// An action of the critical path, from when the one before it let it go on.
struct PathPart {
  std::uint32_t entry = 0;
  std::int64_t from = 0, to = 0;
};

struct StepReport {
  std::int64_t period = 0;
  double bubble = 0;    // idle share of the time that ranks have to train in
  RolloutTimes rollout; // in front of it
  std::vector<RankReport> ranks;
  std::vector<PathPart> path;      // in time
  std::vector<std::int64_t> slack; // by entry (Slack.h); empty: not looked for
};

/// Ranks that train: in a plan without engines all of the report.
std::int64_t trainersOf(const StepReport &report);

/// Over those.
IdleTime sumOf(const StepReport &report);

/// Of a run that was not stuck.
StepReport reportOf(const verify::ActionTable &table, const Simulated &run);

} // namespace vime
