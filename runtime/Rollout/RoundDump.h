// RoundDump: the samples of a round in a file, to look at, and to train from without engines.
//
//   writeDump(folder, source, scored, round);          // folder/round-000007.jsonl
//   readDump(dumpPath(folder, 7), plan.round, vocabulary, 7, round);
//
// JSON Lines: first what the round was, then a sample a line, by draw and sample, of all
// candidates: texts, tokens, log-probabilities, version, reward; of those that were trained on also
// the advantage. Numbers are written so that they are read back to the bit: a buffer that is filled
// from the dump is the one that was dumped, if the plan's algorithm is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Rollout/Score.h"

namespace vime {

std::string dumpPath(const std::string &folder, std::uint64_t round);

/// Makes the folder if need be. The file appears whole or not at all (File).
Status writeDump(const std::string &folder, const RoundSource &source, const ScoredRound &scored,
                 const std::byte *round);

/// Fills the buffer `round` with the samples that were trained on; advantages and denominators are
/// made anew from their rewards. InvalidInput: a line that is not as it should be, or samples that
/// do not fit the plan; every error names the line.
Status readDump(const std::string &path, const plan::RoundSettings &settings,
                std::uint32_t vocabulary, std::uint64_t round, std::byte *buffer);

} // namespace vime
