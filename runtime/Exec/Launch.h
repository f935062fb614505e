// Launch: which rank another program started this process as: torchrun, srun, mpirun, or vime-exec
// itself (ProcessRun.h).
//
//   StatusOr<std::optional<Launch>> launch = launchFrom(getenv);
//   if (launch.ok() && !*launch)
//     …                                            // nobody: all ranks start here
//
// The ranks meet in a store at MASTER_ADDR:MASTER_PORT. torchrun's agent hosts one; where nobody
// does, rank 0 does (TcpStoreServer.h). Under srun the address is the first host of the step's list
// and the port follows from the job's number, unless they are given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Transport/TcpStore.h"

namespace vime {

struct Launch {
  std::string by; // name of the launcher, for messages
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  StoreAddress store;
  bool hostsStore = false;     // this rank is to host it
  bool endsWithParent = false; // torchrun's agent is gone: so are its ranks
  std::string prefix;          // of this attempt's keys: a restart finds the store as it was
  std::string attempt;         // which one it is
};

/// Value of an environment variable, or null.
using Variables = std::function<const char *(const char *)>;

/// Nothing when no launcher is seen; `Usage` when what it says makes no sense.
StatusOr<std::optional<Launch>> launchFrom(const Variables &variables);

} // namespace vime
