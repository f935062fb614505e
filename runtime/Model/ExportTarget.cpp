#include "runtime/Model/ExportTarget.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Model/HuggingFaceFiles.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

constexpr const char *kElsewhere = "\nhelp: export to a directory that is new or empty";

Status refuse(const char *what, const fs::path &path, const char *help = kElsewhere) {
  return Status(StatusCode::File,
                fmt::format("cannot export: `{}` {}{}", path.string(), what, help));
}

Status fileError(const char *what, const fs::path &path, int error) {
  return Status(StatusCode::File,
                fmt::format("cannot {} `{}`: {}{}", what, path.string(),
                            std::error_code(error, std::generic_category()).message(), kElsewhere));
}

/// `model-00001-of-00002.safetensors`.
bool isShard(std::string_view name) {
  constexpr std::string_view kFront = "model-", kBack = ".safetensors";
  if (!name.starts_with(kFront) || !name.ends_with(kBack))
    return false;
  name.remove_prefix(kFront.size());
  name.remove_suffix(kBack.size());
  return name.find("-of-") != name.npos && name.find_first_not_of("0123456789-of") == name.npos;
}

bool isExportFile(std::string_view name) {
  name = finalNameOf(name);
  return name == kExportConfig || name == kExportIndex || isShard(name);
}

fs::path parentOf(const fs::path &path) { return path.parent_path(); } // canonical: never empty

/// Whether a directory could be made, or replaced, by name.
Status checkWritable(const fs::path &directory) {
  fs::path parent = parentOf(directory);
  std::error_code error;
  while (!fs::exists(parent, error) && !error && parent != parentOf(parent))
    parent = parentOf(parent);
  if (error)
    return fileError("look at", parent, error.value());
  if (!fs::is_directory(parent, error))
    return refuse("is not a directory", parent);
  if (access(parent.c_str(), W_OK | X_OK) != 0)
    return fileError("write to", parent, errno);
  return Status();
}

/// A directory mounted by itself cannot change places with one beside it.
bool isMountPoint(const fs::path &directory) {
  struct stat own{}, parent{};
  return stat(directory.c_str(), &own) == 0 && stat(parentOf(directory).c_str(), &parent) == 0 &&
         own.st_dev != parent.st_dev;
}

/// Ok when there is nothing, an empty directory or what a run of ours has left or is writing. A run
/// that ends lets go of its lock before the export gets its name, and leaves the former one here
/// until its files are removed, the index last.
Status checkPartial(const fs::path &partial) {
  std::error_code error;
  const fs::file_status found = fs::symlink_status(partial, error);
  if (found.type() == fs::file_type::not_found)
    return Status();
  if (fs::is_directory(found) &&
      (fs::is_regular_file(fs::symlink_status(partial / kExportLock, error)) ||
       isOurIndex((partial / kExportIndex).string()) || (fs::is_empty(partial, error) && !error)))
    return Status();
  return refuse("exists, is where the export would be prepared, and was not left by an unfinished "
                "run",
                partial, "\nhelp: move it away, or export to another directory");
}

} // namespace

StatusOr<ExportTarget> resolveExport(const std::string &directory) {
  fs::path path(directory);
  while (!path.has_filename() && path.has_relative_path()) // `out/`
    path = path.parent_path();
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..")
    return refuse("is no name of a new directory", directory);
  std::error_code error;
  path = fs::absolute(path, error);
  if (!error)
    path = fs::weakly_canonical(path, error);
  if (error)
    return fileError("look at", directory, error.value());
  if (!path.has_filename())
    return refuse("is no name of a new directory", directory);
  if (fs::is_symlink(fs::symlink_status(path, error)))
    return refuse("is a link to nothing", directory);
  return ExportTarget{path, path.string() + ".partial"};
}

Status checkReplaceable(const fs::path &directory) {
  std::error_code error;
  const fs::file_status found = fs::symlink_status(directory, error);
  if (found.type() == fs::file_type::not_found)
    return Status();
  if (!fs::is_directory(found))
    return refuse("exists and is not a directory", directory);
  const bool empty = fs::is_empty(directory, error);
  if (error)
    return fileError("read", directory, error.value());
  if (!empty && !isOurIndex((directory / kExportIndex).string()))
    return refuse("exists and is no earlier export of vime", directory);
  if (isMountPoint(directory))
    return refuse("is mounted by itself and cannot be replaced", directory,
                  "\nhelp: export to a directory inside it");
  return Status();
}

Status checkExportTarget(const std::string &directory) {
  const StatusOr<ExportTarget> target = resolveExport(directory);
  if (!target.ok())
    return target.status();
  if (Status status = checkReplaceable(target->directory); !status.ok())
    return status;
  if (Status status = checkWritable(target->directory); !status.ok())
    return status;
  return checkPartial(target->partial);
}

Status removeExportFiles(const fs::path &directory, const std::set<std::string> &keep) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (const std::string name = entry->path().filename().string();
        isExportFile(name) && !keep.contains(name))
      paths.push_back(entry->path());
  if (error)
    return fileError("read", directory, error.value());
  std::ranges::partition(paths,
                         [](const fs::path &path) { return path.filename() != kExportIndex; });
  for (const fs::path &path : paths)
    if (unlink(path.c_str()) != 0)
      return fileError("remove", path, errno);
  return Status();
}

StatusOr<ExportClaim> ExportClaim::take(const std::string &directory) {
  if (Status status = checkExportTarget(directory); !status.ok())
    return status;
  ExportClaim claim;
  claim.partial = resolveExport(directory)->partial;
  Status status = claim.makeDirectories();
  if (status.ok())
    status = claim.lock();
  if (!status.ok())
    return status;
  return claim;
}

Status ExportClaim::makeDirectories() {
  std::vector<fs::path> missing{partial};
  std::error_code error;
  while (!fs::exists(parentOf(missing.back()), error) && !error)
    missing.push_back(parentOf(missing.back()));
  for (; !missing.empty(); missing.pop_back()) {
    if (mkdir(missing.back().c_str(), 0777) == 0)
      made.push_back(missing.back());
    else if (errno != EEXIST)
      return fileError("create", missing.back(), errno);
  }
  return Status();
}

Status ExportClaim::lock() {
  StatusOr<FileLock> taken = FileLock::take((partial / kExportLock).string());
  if (!taken.ok())
    return Status(StatusCode::File, taken.status().message() + kElsewhere);
  if (!taken->held())
    return refuse("is being written by another run", partial,
                  "\nhelp: wait until that run has ended, or export to another directory");
  Status status = removeExportFiles(partial, {}); // of a run that was killed
  std::error_code ignored;
  if (status.ok() && std::distance(fs::directory_iterator(partial, ignored), {}) != 1)
    status = refuse("holds files that no export wrote", partial,
                    "\nhelp: move it away, or export to another directory");
  if (status.ok())
    held = std::move(*taken);
  return status;
}

ExportClaim::ExportClaim(ExportClaim &&other) noexcept
    : partial(std::move(other.partial)), made(std::exchange(other.made, {})),
      held(std::move(other.held)) {}

void ExportClaim::drop() {
  if (held.isNamed()) {
    (void)removeExportFiles(partial, {});
    held.remove();
    rmdir(partial.c_str());
  }
  for (; !made.empty(); made.pop_back())
    rmdir(made.back().c_str()); // when nothing is in it
  held.release();
}

} // namespace vime
