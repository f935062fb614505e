#include "runtime/Checkpoint/Choose.h"

#include <filesystem>

#include <fmt/format.h>

#include "runtime/Checkpoint/CheckpointDirectory.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

StatusOr<Checkpoint> take(const std::string &path, const Identity &identity, std::uint64_t steps) {
  StatusOr<Checkpoint> checkpoint = Checkpoint::open(path);
  if (!checkpoint.ok())
    return checkpoint;
  if (Status status = checkFits(*checkpoint, identity, steps); !status.ok())
    return status;
  if (Status status = checkpoint->verify(); !status.ok())
    return status;
  return checkpoint;
}

} // namespace

Status checkFits(const Checkpoint &checkpoint, const Identity &identity, std::uint64_t steps) {
  const Manifest &manifest = checkpoint.manifest();
  if (const std::string difference = findDifference(manifest.identity, identity);
      !difference.empty())
    return Status(StatusCode::Unacceptable,
                  fmt::format("`{}` is of another run: {}", checkpoint.path(), difference));
  if (manifest.progress.steps > steps)
    return Status(StatusCode::Unacceptable,
                  fmt::format("`{}` was saved behind step {}, the plan ends with step {}",
                              checkpoint.path(), manifest.progress.steps, steps));
  return Status();
}

StatusOr<Choice> chooseCheckpoint(const std::string &where, const Identity &identity,
                                  std::uint64_t steps) {
  std::error_code ignored;
  if (fs::exists(fs::path(where) / kManifestName, ignored)) { // one that the user has chosen
    StatusOr<Checkpoint> checkpoint = take(where, identity, steps);
    if (!checkpoint.ok())
      return checkpoint.status();
    return Choice{std::move(*checkpoint), {}};
  }
  const auto found = listCheckpoints(where);
  if (!found.ok())
    return found.status();
  std::vector<std::string> skipped;
  for (const FoundCheckpoint &candidate : *found) {
    StatusOr<Checkpoint> checkpoint = take(candidate.path.string(), identity, steps);
    if (checkpoint.ok())
      return Choice{std::move(*checkpoint), std::move(skipped)};
    skipped.push_back(checkpoint.status().message());
  }
  if (skipped.empty())
    return Status(StatusCode::File, fmt::format("there is no checkpoint in `{}`", where));
  std::string reasons;
  for (const std::string &reason : skipped)
    reasons += "\n" + reason;
  return Status(StatusCode::Unacceptable,
                fmt::format("no checkpoint in `{}` can be resumed{}", where, reasons));
}

} // namespace vime
