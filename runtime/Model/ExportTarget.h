// ExportTarget: the directory an export is to become, looked at before anything is trained, and the
// directory beside it in which one run prepares the export.
//
//   checkExportTarget("out/model")                 // changes nothing
//   auto claim = ExportClaim::take("out/model");   // `out/model.partial` is this run's alone
//
// A directory is replaced only when it is empty or its index bears our mark. The claim is a lock on
// a file in `<directory>.partial`: the kernel lifts it when the run dies, so what a killed run left
// can be taken over, and a directory without that file is somebody else's.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/Base/FileLock.h"
#include "runtime/Base/Status.h"

namespace vime {

inline constexpr const char *kExportConfig = "config.json";
inline constexpr const char *kExportIndex = "model.safetensors.index.json";
inline constexpr const char *kExportLock = ".vime-lock";

struct ExportTarget {
  std::filesystem::path directory; // no link any more
  std::filesystem::path partial;   // beside it
};

/// Refuses a directory that has no name of its own, such as `/` and `..`, and a link to nothing.
StatusOr<ExportTarget> resolveExport(const std::string &directory);

/// Ok when there is nothing, an empty directory or an earlier export of ours.
Status checkReplaceable(const std::filesystem::path &directory);

/// All that can be known of a target without writing: also whether it could be made.
Status checkExportTarget(const std::string &directory);

/// Removes the files with names that exports have, except those to keep.
Status removeExportFiles(const std::filesystem::path &directory, const std::set<std::string> &keep);

/// The right to write `<directory>.partial`. When it ends before `exportCommit` has removed the
/// lock file, what was written goes too; only files of exports are ever removed.
class ExportClaim {
public:
  ExportClaim() = default; // of a run without an export
  static StatusOr<ExportClaim> take(const std::string &directory);
  ExportClaim(ExportClaim &&other) noexcept;
  ExportClaim &operator=(ExportClaim &&) = delete;
  ~ExportClaim() { drop(); }
  void drop();

private:
  Status makeDirectories();
  Status lock();

  std::filesystem::path partial;
  std::vector<std::filesystem::path> made; // parents that were not there before
  FileLock held;
};

} // namespace vime
