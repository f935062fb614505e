// CheckpointDirectory: the folder in which a run saves itself.
//
//   out/text.ckpt/step-000100/   checkpoint.json  stage-00000-of-00004.safetensors  …
//                 step-000200/
//                 step-000300.partial/            being written; whole, or soon gone
//
// Only what bears such names is ever replaced or removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/Base/FileLock.h"
#include "runtime/Base/Status.h"

namespace vime {

/// Of a shard's metadata: the steps done, so that shards of two checkpoints are not taken for one.
inline constexpr const char *kStepsField = "vime.steps";

std::filesystem::path checkpointPath(const std::string &directory, std::uint64_t steps);
std::filesystem::path partialPath(const std::string &directory, std::uint64_t steps);

struct FoundCheckpoint {
  std::uint64_t steps = 0;
  std::filesystem::path path;
};

/// Those with a manifest, newest first; whether they are whole is for others to say. No directory:
/// none. File: it cannot be read.
StatusOr<std::vector<FoundCheckpoint>> listCheckpoints(const std::string &directory);

/// The manifest first, so that what remains of an interrupted removal is no checkpoint. Files that
/// no checkpoint has stay, and so does the directory then.
Status removeCheckpoint(const std::filesystem::path &path);

/// Nothing is there, or may be added to: all that can be known without writing.
Status checkCheckpointDirectory(const std::string &directory, bool resumes);

/// The right of one run to save itself there.
class CheckpointClaim {
public:
  CheckpointClaim() = default; // of a run that is not saved
  /// Makes the directory and clears away what unfinished saves have left. A run that does not
  /// resume wants it to be free of checkpoints, which it would mix with its own.
  static StatusOr<CheckpointClaim> take(const std::string &directory, bool resumes);
  CheckpointClaim(CheckpointClaim &&) = default;
  CheckpointClaim &operator=(CheckpointClaim &&) = default;
  ~CheckpointClaim();

private:
  std::filesystem::path directory;
  FileLock lock;
};

} // namespace vime
