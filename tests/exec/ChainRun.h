// ChainRun: runs a chain plan over the local or the rendezvous transport with the routines of a
// test, all ranks as threads.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/RoutineTable.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Transport/RendezvousTransport.h"

namespace vime {

struct ChainRun {
  plan::Plan plan;
  RoutineTable routines; // of compute and update; transfers are the real ones
  std::vector<std::uint32_t>
      tokens; // of each microbatch, in the step header of all ranks; empty: one each
  std::chrono::milliseconds limit{20000};
  std::optional<QueueMerging> rendezvous; // over this transport instead of local

  /// Runs to the end. The status of each rank.
  std::vector<Status> run() const;
  /// Only one rank, in the calling thread.
  Status runAlone() const;
};

/// Routines that do nothing for every task of a chain.
RoutineTable nullRoutines();

} // namespace vime
