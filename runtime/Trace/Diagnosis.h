// Diagnosis: who was first, and why, concluded from the flight records of a run.
//
//   Diagnosis diagnosis = diagnose(plan, records);
//   diagnosis.sentence   // "rank 2 was first: its process was ended by signal 9, Killed"
//   diagnosis.details    // "it was in action 17 (backward, …) of step 41", "ranks 0 and 1 waited
//   …"
//
// The plan may be one without origins, or without the parts of other ranks: then less is said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Trace/WaitGraph.h"

namespace vime::flight {

enum class Cause : std::uint8_t {
  None,     // every rank is done, or nothing can be said
  Killed,   // its process was ended from outside
  Failed,   // by itself
  Vanished, // its record ends where the others still told of their end
  Silent,   // its process got no time, or was stopped
  Stuck,    // in an action, while others waited
  Transfer, // all ends have come, but the bytes have not
  LostPeer, // connections broke, nobody says why
  Stopped   // all ranks of the one process ended together
};

/// `killed` …
std::string_view nameOf(Cause cause);

struct Diagnosis {
  Cause cause = Cause::None;
  std::uint32_t rank = 0; // who was first; of no meaning for None
  std::string sentence;
  std::vector<std::string> details;
  std::vector<Wait> waits;
};

Diagnosis diagnose(const plan::Plan &plan, const RecordsByRank &records);

/// `action 17 (backward, stage 2, microbatch 3) of step 41`, `before its first action`.
std::string placeOf(const plan::Plan &plan, const FlightRecord &record);
std::string placeOf(const plan::Plan &plan, std::uint32_t rank, const ActionRecord &action);

/// `line 12 of the job, `pipeline.schedule``; empty where the plan does not know.
std::string originOf(const plan::Plan &plan, std::uint32_t rank, std::uint32_t action);

/// `transfer 40 of channel `rank 2 → rank 1, backward``, `its host lane`.
std::string describe(const plan::Plan &plan, const Wait &wait);

/// `rank 2`, `ranks 0, 1 and 3`; of many the first ones and how many more.
std::string ranksInWords(const std::vector<std::uint32_t> &ranks);

} // namespace vime::flight
