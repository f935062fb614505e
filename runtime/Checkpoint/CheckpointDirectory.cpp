#include "runtime/Checkpoint/CheckpointDirectory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Checkpoint/CheckpointShard.h"
#include "runtime/Checkpoint/Manifest.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFront = "step-", kPartial = ".partial", kOld = ".old";
constexpr const char *kLock = ".vime-lock";

Status fileError(const char *what, const fs::path &path, const std::error_code &error) {
  return Status(StatusCode::File,
                fmt::format("cannot {} `{}`: {}", what, path.string(), error.message()));
}

/// Steps of `step-000100`; nothing for other names.
std::optional<std::uint64_t> stepsIn(std::string_view name) {
  if (!name.starts_with(kFront))
    return std::nullopt;
  name.remove_prefix(kFront.size());
  std::uint64_t steps = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), steps);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(steps) : std::nullopt;
}

bool hasManifest(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path / kManifestName, ignored));
}

/// What a save or a removal that did not come to its end leaves: `step-000100.partial`, or
/// `step-000100` without a manifest.
bool isUnfinished(const fs::path &path) {
  const std::string name = path.filename().string();
  for (const std::string_view suffix : {kPartial, kOld})
    if (name.ends_with(suffix))
      return stepsIn(std::string_view(name).substr(0, name.size() - suffix.size())).has_value();
  return stepsIn(name) && !hasManifest(path);
}

StatusOr<std::vector<fs::path>> entriesOf(const fs::path &directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    paths.push_back(entry->path());
  if (error == std::errc::no_such_file_or_directory)
    return std::vector<fs::path>();
  if (error)
    return fileError("read", directory, error);
  return paths;
}

Status checkFree(const std::string &directory, bool resumes) {
  const auto found = listCheckpoints(directory);
  if (!found.ok())
    return found.status();
  if (resumes || found->empty())
    return Status();
  return Status(StatusCode::File,
                fmt::format("`{}` holds checkpoints of an earlier run, the newest behind step {}\n"
                            "help: go on from there with `--resume`, move the directory away, or "
                            "save to another one (`checkpoint.dir`)",
                            directory, found->front().steps));
}

} // namespace

fs::path checkpointPath(const std::string &directory, std::uint64_t steps) {
  return fs::path(directory) / fmt::format("{}{:06}", kFront, steps);
}

fs::path partialPath(const std::string &directory, std::uint64_t steps) {
  return checkpointPath(directory, steps).string() + std::string(kPartial);
}

StatusOr<std::vector<FoundCheckpoint>> listCheckpoints(const std::string &directory) {
  const auto entries = entriesOf(directory);
  if (!entries.ok())
    return entries.status();
  std::vector<FoundCheckpoint> found;
  for (const fs::path &path : *entries)
    if (const auto steps = stepsIn(path.filename().string()); steps && hasManifest(path))
      found.push_back({*steps, path});
  std::sort(found.begin(), found.end(), [](const FoundCheckpoint &a, const FoundCheckpoint &b) {
    return a.steps != b.steps ? a.steps > b.steps : a.path < b.path;
  });
  return found;
}

Status removeCheckpoint(const fs::path &path) {
  const auto entries = entriesOf(path);
  if (!entries.ok())
    return entries.status();
  std::error_code error;
  fs::remove(path / kManifestName, error);
  for (const fs::path &entry : *entries) {
    const std::string name = entry.filename().string();
    if (!error && (isShardName(name) || finalNameOf(name) == kManifestName))
      fs::remove(entry, error);
  }
  if (error)
    return fileError("remove", path, error);
  rmdir(path.c_str()); // stays when something else lies in it
  return Status();
}

Status checkCheckpointDirectory(const std::string &directory, bool resumes) {
  std::error_code error;
  fs::path existing = fs::absolute(directory, error);
  if (fs::exists(existing, error) && !fs::is_directory(existing, error))
    return Status(StatusCode::File, fmt::format("cannot save checkpoints: `{}` exists and is not a "
                                                "directory",
                                                directory));
  if (Status status = checkFree(directory, resumes); !status.ok())
    return status;
  while (!fs::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  if (access(existing.c_str(), W_OK | X_OK) != 0)
    return fileError("write to", existing, std::error_code(errno, std::generic_category()));
  return Status();
}

StatusOr<CheckpointClaim> CheckpointClaim::take(const std::string &directory, bool resumes) {
  if (Status status = checkCheckpointDirectory(directory, resumes); !status.ok())
    return status;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return fileError("create", directory, error);
  CheckpointClaim claim;
  claim.directory = directory;
  StatusOr<FileLock> lock = FileLock::take((claim.directory / kLock).string());
  if (!lock.ok())
    return lock.status();
  if (!lock->held())
    return Status(StatusCode::File,
                  fmt::format("another run saves its checkpoints in `{}`\n"
                              "help: wait until it has ended, or save to another directory",
                              directory));
  claim.lock = std::move(*lock);
  const auto entries = entriesOf(directory);
  if (!entries.ok())
    return entries.status();
  for (const fs::path &path : *entries)
    if (isUnfinished(path))
      if (Status status = removeCheckpoint(path); !status.ok())
        return status;
  return claim;
}

CheckpointClaim::~CheckpointClaim() {
  if (!lock.held())
    return;
  lock.remove();
  rmdir(directory.c_str()); // when nothing was saved
}

} // namespace vime
