// RunOptions: what a run on this machine is told besides its plan.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "kernels/Native.h"
#include "runtime/Exec/Arena.h"
#include "runtime/Exec/RankProbe.h"
#include "runtime/Exec/Resume.h"
#include "runtime/Model/ExportTarget.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Trace/Trace.h"
#include "runtime/Transport/RendezvousTransport.h"

namespace vime {

struct RunOptions {
  std::string base = "."; // folder of the job's relative paths
  std::optional<Isa> isa; // kernels to compute with; the best that this machine has when absent
  std::string interface;  // network interface towards other ranks; empty: the one towards the store
  int interrupts = -1;    // readable when the user wants the run to end (InterruptSignals.h)
  Arena::Edge edge = Arena::Edge::Plain;
  std::optional<QueueMerging> rendezvous; // ranks as threads: over this transport instead of local
  std::string plan;                       // its path, for who reads the flight records
  std::string records; // folder for flight records; empty: a temporary one, kept after a failure
  /// Called when the run is to end and a rank's thread does not stop in time, or the user cannot
  /// wait: a task that never returns ends only with the process, which this should end.
  std::function<void(const Status &)> abandon;
  ResumeWish resume{};
  /// Folder of dumps (runtime/Rollout/RoundDump.h) whose rounds are trained on; then nothing is
  /// generated for them. Empty: none.
  std::string replay;
  trace::TraceWish trace{};
  const RankProbe *probe = nullptr; // of tests
};

constexpr std::chrono::seconds kStopLimit{3};
/// The same where a rank is known not to go on.
constexpr std::chrono::milliseconds kHangStopLimit{300};

/// Longest that a rank stands still, and that it waits for a peer.
std::chrono::nanoseconds transferLimit(const plan::Plan &plan);
/// Longest wait for a peer. In a round a peer may have to do for long what nobody hears of: an
/// engine generates, rewards are given. Each rank watches itself (Watchdog.h) and ends the run
/// after `transferLimit` without progress. Where it sees all others too, that is enough, and waits
/// have no limit of their own; with ranks on other machines they have one of kRoundPatience times
/// as long, for a machine that is gone without a word.
std::chrono::nanoseconds peerLimit(const plan::Plan &plan, bool seesAll);
inline constexpr int kRoundPatience = 10;

/// `Unacceptable` when the arenas of all ranks do not fit into this machine's memory. Needs all
/// layouts.
Status checkMemory(const plan::Plan &plan);

/// Whether the plan's export, if it has one, could be written where it asks to be; changes nothing.
Status checkExport(const plan::Plan &plan, const std::string &base);

/// Whether it could save itself where it asks to; changes nothing.
Status checkSaving(const plan::Plan &plan, const RunOptions &options);

/// Reserves the place for this run; what an unfinished export leaves goes with the claim.
StatusOr<ExportClaim> claimExport(const plan::Plan &plan, const std::string &base);

} // namespace vime
