// ReplayRound: a round of samples that another run has generated, from its dump.
//
//   replayRound(folder, source, vocabulary, buffer);     // folder/round-000007.jsonl
//
// So a round can be trained on again, by another layout or another algorithm, while engines have
// nothing to do.
#pragma once

#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Rollout/RoundDump.h"
#include "runtime/Rollout/RoundReport.h"

namespace vime {

/// Whether there is a dump of every round of the plan. File: the first one that is missing.
Status checkDumps(const std::string &folder, std::uint64_t rounds);

/// Fills the buffer `round` as readDump does, and tells what is in it.
StatusOr<RoundReport> replayRound(const std::string &folder, const plan::RoundSettings &settings,
                                  std::uint32_t vocabulary, std::uint64_t round, std::byte *buffer);

} // namespace vime
