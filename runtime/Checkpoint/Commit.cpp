#include "runtime/Checkpoint/Commit.h"

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Checkpoint/CheckpointShard.h"
#include "runtime/Checkpoint/ShardFile.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

Status fileError(const char *what, const fs::path &path, const std::error_code &error) {
  return Status(StatusCode::File,
                fmt::format("cannot {} `{}`: {}", what, path.string(), error.message()));
}

/// That the shard on the disk is this stage's, of this step; adds it to the manifest.
Status addShard(const fs::path &path, const ModelConfig &config, const StageSpec &spec,
                Manifest &manifest) {
  const StatusOr<ShardFile> file = ShardFile::open(path.string());
  if (!file.ok())
    return file.status();
  const auto refuse = [&](const std::string &what) {
    return Status(StatusCode::File, fmt::format("`{}` {}", path.string(), what));
  };
  if (file->metadata(kStepsField) != std::to_string(manifest.progress.steps))
    return refuse(fmt::format("is not of step {}", manifest.progress.steps));
  const auto shard = static_cast<std::uint32_t>(manifest.shards.size());
  manifest.shards.push_back({path.filename().string(), file->bytes(), file->headerHash()});
  for (const StageTensor &tensor : tensorsOf(config, spec)) {
    const SafeTensor *found = file->find(tensor.name);
    if (!found || found->shape != tensor.shape || found->type != tensor.type)
      return refuse(fmt::format("lacks tensor `{}` as this model has it", tensor.name));
    manifest.shardOf[tensor.name] = shard;
  }
  return Status();
}

/// Directories cannot be replaced by a rename; the old one steps aside.
Status giveName(const fs::path &partial, const fs::path &path) {
  std::error_code error, ignored;
  const fs::path old = path.string() + ".old";
  const bool replaces = fs::exists(fs::symlink_status(path, ignored));
  if (replaces)
    fs::rename(path, old, error);
  if (!error)
    fs::rename(partial, path, error);
  if (error)
    return fileError("create", path, error);
  if (Status status = syncDirectory(path.parent_path().string()); !status.ok())
    return status;
  return replaces ? removeCheckpoint(old) : Status();
}

} // namespace

Status commitCheckpoint(const CommitRecord &record, const ModelConfig &config,
                        std::span<const StageSpec> stages) {
  const std::uint64_t steps = record.progress.steps;
  const fs::path partial = partialPath(record.directory, steps);
  Manifest manifest{
      .progress = record.progress, .plan = record.plan, .identity = record.identity};
  const auto count = static_cast<std::uint32_t>(stages.size());
  for (std::uint32_t stage = 0; stage < count; ++stage)
    if (Status status =
            addShard(partial / shardName(stage, count), config, stages[stage], manifest);
        !status.ok())
      return status;
  if (Status status =
          writeFileAtomically((partial / kManifestName).string(), manifestText(manifest));
      !status.ok())
    return status;
  if (Status status = syncDirectory(partial.string()); !status.ok())
    return status;
  return giveName(partial, checkpointPath(record.directory, steps));
}

Status pruneCheckpoints(const std::string &directory, std::uint64_t steps, std::uint32_t keep) {
  const auto found = listCheckpoints(directory); // newest first
  if (!found.ok())
    return found.status();
  std::uint32_t kept = 0;
  for (const FoundCheckpoint &checkpoint : *found)
    if (keep != 0 && checkpoint.steps <= steps && ++kept > keep)
      if (Status status = removeCheckpoint(checkpoint.path); !status.ok())
        return status;
  return Status();
}

} // namespace vime
