// Manifest: the file of a checkpoint that says what belongs to it, `checkpoint.json`.
//
// How far the run was, what it is (Identity.h), and which shards hold which tensors. It fixes each
// shard by the hash of its header, the header every tensor by the tensor's; itself by the hash in
// its last line. A directory without one is no checkpoint.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Identity.h"

namespace vime {

inline constexpr const char *kManifestName = "checkpoint.json";
inline constexpr std::uint32_t kManifestVersion = 1;

/// How far a run is at the end of a step: all that decides what the next one does, beside
/// parameters and moments.
struct RunProgress {
  std::uint64_t steps = 0;   // done
  std::uint64_t updates = 0; // of the optimizer
  std::uint64_t samples = 0; // taken from the text: the data cursor
  bool operator==(const RunProgress &) const = default;
};

struct ShardRecord {
  std::string file;                           // in the checkpoint's directory
  std::uint64_t bytes = 0;                    // of the whole file
  std::array<std::uint64_t, 2> headerHash{};  // of its first bytes, up to the data
  bool operator==(const ShardRecord &) const = default;
};

struct Manifest {
  RunProgress progress;
  std::string plan; // id, of the plan that made it
  Identity identity;
  std::vector<ShardRecord> shards;
  std::map<std::string, std::uint32_t> shardOf; // by tensor: index in `shards`
  bool operator==(const Manifest &) const = default;
};

/// Same manifest, same text.
std::string manifestText(const Manifest &manifest);

/// Believes nothing. Unacceptable, with a sentence's end that says what is wrong: "it is damaged".
StatusOr<Manifest> parseManifest(std::string_view text);

} // namespace vime
