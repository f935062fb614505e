// Commit: the last step of a save, by the coordinator, when all shards are on the disk.
#pragma once

#include <span>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Manifest.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// What the coordinator knows of a checkpoint beside its shards.
struct CommitRecord {
  std::string directory; // of the checkpoints
  RunProgress progress;
  std::string plan; // id
  Identity identity;
};

/// Looks at each shard, writes the manifest and gives the checkpoint its name: from then on it is
/// there, and whole. A power cut at any moment leaves the older ones as they were. One that is
/// already behind that step is replaced.
Status commitCheckpoint(const CommitRecord &record, const ModelConfig &config,
                        std::span<const StageSpec> stages);

/// Keeps the newest `keep` checkpoints up to the step `steps`; 0: all of them.
Status pruneCheckpoints(const std::string &directory, std::uint64_t steps, std::uint32_t keep);

} // namespace vime
