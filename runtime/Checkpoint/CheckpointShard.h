// CheckpointShard: a stage's state as a file of a checkpoint that is not there yet.
#pragma once

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/StageTensors.h"

namespace vime {

/// Stage `stage` of `stages`, of the checkpoint behind step `steps` in `directory`.
struct ShardPlace {
  std::string directory;
  std::uint64_t steps = 0;
  std::uint32_t stage = 0, stages = 1;
};

/// `stage-00002-of-00004.safetensors`.
std::string shardName(std::uint32_t stage, std::uint32_t stages);
/// Whether a file could be one, also one that was being written when its process was killed.
bool isShardName(std::string_view name);

/// Brings the shard to the disk, in `<directory>/step-….partial`. File.
Status writeShard(const ShardPlace &place, const ModelConfig &config, const StageSpec &spec,
                  StageMemory<const std::byte> memory);

} // namespace vime
