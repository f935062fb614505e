// Roll call: before ranks connect, rank 0 hears who they are and says whether they go together.
//
//   Status together = callRoll(store, {.rank = 2, .ranks = 4, .planId = "1f…", …}, deadline);
//
// Every rank leaves an attendance in the store, rank 0 compares all with its own and leaves one
// verdict for everybody: so each rank refuses a stranger with the same sentence, which names it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/Transport/TcpStore.h"

namespace vime {

struct Attendance {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string program; // name and version
  std::string planId;
  std::string address;     // numeric: where this rank listens for its peers
  bool hostsStore = false; // of rank 0: stays until the others have heard a refusal
};

/// Ok when all ranks are there and of one mind. `Unacceptable` when one differs, `RankFailed` when
/// one does not come before the deadline, or was excused.
Status callRoll(TcpStore &store, const Attendance &self, Deadline deadline);

/// For a rank that cannot take part: tells the others why, so that nobody waits for it.
void excuse(TcpStore &store, const Attendance &self, const Status &reason);

} // namespace vime
